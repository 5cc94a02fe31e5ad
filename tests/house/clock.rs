//! No interval is measured by the clock of the wall, which may jump.

use super::tree::source::SRC;

/// The file that writes down the date: of a lock, and of a run.
const DATES: [&str; 1] = ["crates/result/src/out_dir/lock.rs"];

#[test]
fn the_date_is_only_written_down() {
    let asks = |text: &str| text.contains("SystemTime") || text.contains("UNIX_EPOCH");
    let mut found: Vec<&str> = Vec::new();
    for source in SRC.iter().filter(|source| asks(&source.own)) {
        found.push(&source.path);
    }
    found.sort_unstable();
    assert_eq!(found, DATES, "measure times by std::time::Instant");
    for source in SRC.iter().filter(|source| asks(&source.own)) {
        // A difference between two dates would need more of them.
        let dates = source.own.matches("SystemTime::now()").count();
        assert_eq!(dates, 1, "{}", source.path);
        for interval in ["duration_since", "elapsed"] {
            assert!(!source.own.contains(interval), "{}", source.path);
        }
    }
}
