//! `preset = "…"`: named values of a variant, with lower priority than the values that the user
//! writes.

use weir_input::registry::{Family, preset};
use weir_input::tree::{Node, Value};
use weir_input::{ConfigError, Section, suggest};
use weir_model::Invalid;

/// The section with the values of the preset that it names below its own; without that key.
pub(in crate::config) fn with_preset<F: Copy>(
    mut section: Section,
    family: &Family<F>,
) -> Result<Section, ConfigError> {
    let Some(chosen) = section.node.get(preset::KEY).cloned() else {
        return Ok(section);
    };
    let variant = family.choose(&section)?;
    let presets = variant.presets();
    if presets.is_empty() {
        return Err(section.refuse(Invalid::new(
            preset::KEY,
            format!("the {} {:?} has no presets", family.one, variant.name),
            "leave it out",
        )));
    }
    let names: Vec<&str> = presets.iter().map(|one| one.name.as_str()).collect();
    let Value::String(name) = &chosen.value.value else {
        return Err(section.refuse(Invalid::new(
            preset::KEY,
            format!("expected a name, got {}", chosen.value.type_name()),
            suggest("", "presets", &names, '"'),
        )));
    };
    let Some(found) = presets.iter().find(|one| one.name == *name) else {
        let see = format!(" (see `weir list {} {}`)", family.name, variant.name);
        return Err(section.refuse(Invalid::new(
            preset::KEY,
            format!("{name:?} is not known"),
            suggest(name, "presets", &names, '"') + &see,
        )));
    };
    let values = Section::from_toml(&format!("preset = {{ {} }}", found.values))?.node;
    let values = values.members().first().map(|member| member.value.clone());
    let values = values.unwrap_or(Node::default(Value::Table(Vec::new())));
    // What is wrong with them is shown at the line that chooses them.
    let values = values.placed(&chosen.value.origin);
    if let Value::Table(members) = &mut section.node.value {
        members.retain(|member| member.key != preset::KEY);
    }
    let origin = section.node.origin.clone();
    let node = values.overlaid(section.node);
    section.node = Node { origin, ..node };
    Ok(section)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::catalog;

    fn chosen(text: &str) -> Result<String, ConfigError> {
        let section = Section::from_toml(text)?;
        with_preset(section, &catalog().schemes).map(|section| section.text())
    }

    #[test]
    fn what_the_user_writes_goes_before_the_preset() {
        let text = "scheme = \"lhrp\"\npreset = \"jiang2015\"\nthreshold = \"60 flits\"";
        let chosen = chosen(text).expect("good");
        assert!(chosen.contains("threshold = \"60 flits\""), "{chosen}");
        assert!(chosen.contains("timeout = \"1 us\""), "{chosen}");
        assert!(!chosen.contains("preset"), "{chosen}");
    }

    #[test]
    fn a_value_of_a_preset_is_refused_at_the_line_that_chooses_it() {
        let text = "scheme = \"lhrp\"\npreset = \"jiang2015\"\nretries = 4";
        let section = Section::from_toml(text).expect("TOML");
        let section = with_preset(section, &catalog().schemes).expect("good");
        let refused = section.refuse(Invalid::new("timeout", "too long", "shorten it"));
        assert_eq!(refused.line(), Some(2), "{refused}");
    }

    #[test]
    fn presets_that_there_are_not_are_refused_with_those_that_there_are() {
        for (text, message, remedy) in [
            (
                "scheme = \"ecn\"\npreset = \"jiang\"",
                "\"jiang\" is not known",
                "\"jiang2015\"",
            ),
            (
                "scheme = \"ecn\"\npreset = 3",
                "expected a name",
                "\"jiang2015\"",
            ),
            (
                "scheme = \"none\"\npreset = \"sst\"",
                "has no presets",
                "leave it out",
            ),
        ] {
            let error = chosen(text).expect_err(text);
            assert_eq!(error.line(), Some(2), "{text}");
            assert!(error.message.contains(message), "{}", error.message);
            assert!(
                error.remedy().is_some_and(|own| own.contains(remedy)),
                "{error:?}"
            );
        }
    }

    /// Each preset of each variant is good by itself.
    #[test]
    fn every_preset_has_values_that_its_variant_takes() {
        for family in catalog().families() {
            for variant in &family.variants {
                for one in variant.presets() {
                    let text = format!("scheme = {:?}\npreset = {:?}", variant.name, one.name);
                    let section = Section::from_toml(&text).expect("TOML");
                    let section = with_preset(section, &family).expect(&text);
                    family.read(section).expect(&text);
                    assert!(!one.summary.is_empty(), "{text}");
                }
            }
        }
    }
}
