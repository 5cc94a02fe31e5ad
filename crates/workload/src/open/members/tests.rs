//! Assignment of endpoints to workloads.

use proptest::prelude::*;

use super::*;
use crate::patterns::testing::Grouped;
use weir_network::nodes::Nodes;

fn count(count: u32, placement: Placement) -> Endpoints {
    Endpoints::Count {
        count,
        placement,
        seed: None,
    }
}

/// Assigns exclusive workloads on 4 groups of 4 routers of 4 endpoints.
fn exclusive(endpoints: Vec<Endpoints>, seed: u64) -> Result<Vec<Vec<EndpointId>>, String> {
    assigned(
        endpoints.into_iter().map(|one| (one, false)).collect(),
        seed,
    )
}

fn assigned(endpoints: Vec<(Endpoints, bool)>, seed: u64) -> Result<Vec<Vec<EndpointId>>, String> {
    let members = assigned_on(&Grouped::network(4, 4, 4), endpoints, seed)?;
    Ok(members.iter().map(|list| list.to_vec()).collect())
}

fn assigned_on(
    topology: &Arc<dyn Topology>,
    endpoints: Vec<(Endpoints, bool)>,
    seed: u64,
) -> Result<Vec<Arc<[EndpointId]>>, String> {
    let names: Vec<String> = (0..endpoints.len())
        .map(|index| format!("w{index}"))
        .collect();
    let section = Section::from_toml("\n\nendpoints = { count = 1 }").unwrap();
    let named = names.iter().zip(&endpoints);
    let workloads: Vec<_> = named
        .map(|(name, (endpoints, shared))| Party {
            name,
            endpoints,
            shared: *shared,
            section: &section,
        })
        .collect();
    assign(&workloads, topology, &NamedNodes::from(Nodes::SINGLE), seed).map_err(|error| {
        assert_eq!(error.line(), Some(3), "the error points at the key");
        error.to_string()
    })
}

#[test]
fn named_endpoints_come_first_then_counts_then_the_rest() {
    let members = exclusive(
        vec![
            Endpoints::Rest,
            count(3, Placement::Linear),
            Endpoints::List(vec![9, 2]),
            Endpoints::Range(0, 2),
        ],
        1,
    )
    .unwrap();
    assert_eq!(members[3], [0, 1]);
    assert_eq!(members[2], [9, 2], "a list is in task order");
    assert_eq!(members[1], [3, 4, 5]);
    assert_eq!(members[0], [vec![6, 7, 8], (10..64).collect()].concat());
}

#[test]
fn sc15_splits_the_network_into_victims_and_hot_spot() {
    let topology = Grouped::network(33, 8, 4);
    let asked = vec![Endpoints::Rest, count(64, Placement::Random)];
    let asked = asked.into_iter().map(|one| (one, false)).collect();
    let members = assigned_on(&topology, asked, 1).unwrap();
    assert_eq!((members[0].len(), members[1].len()), (992, 64));
    let mut both = [members[0].to_vec(), members[1].to_vec()].concat();
    both.sort_unstable();
    assert_eq!(both, (0..1_056).collect::<Vec<u32>>());
    let groups: std::collections::BTreeSet<u32> = members[1].iter().map(|one| one / 32).collect();
    assert!(
        groups.len() > 20,
        "64 of 1,056 at random are all over the network: {groups:?}"
    );
}

#[test]
fn groups_and_routers_are_filled_in_order_and_chosen_at_random() {
    for (placement, block) in [(Placement::RandomGroups, 16), (Placement::RandomRouters, 4)] {
        let of = |seed| {
            exclusive(vec![count(2 * block + 2, placement)], seed)
                .unwrap()
                .remove(0)
        };
        let members = of(3);
        for filled in members.chunks(block as usize) {
            let first = filled[0];
            assert_eq!(first % block, 0);
            assert!(
                filled
                    .iter()
                    .copied()
                    .eq(first..first + filled.len() as u32),
                "{members:?}"
            );
        }
        assert_eq!(of(3), of(3));
        let firsts: std::collections::BTreeSet<u32> = (0..50).map(|seed| of(seed)[0]).collect();
        assert!(firsts.len() as u32 > 32 / block, "{firsts:?}");
    }
}

#[test]
fn a_taken_endpoint_leaves_a_gap_in_its_group() {
    let members = exclusive(
        vec![
            Endpoints::List(vec![1, 17, 33, 49]),
            count(60, Placement::RandomGroups),
        ],
        1,
    )
    .unwrap();
    assert!(
        members[1].chunks(15).all(|group| group[1] == group[0] + 2),
        "{:?}",
        members[1]
    );
}

#[test]
fn random_members_differ_by_seed_and_workload_unless_the_seed_is_shared() {
    let two = |own: Option<u64>, seed| {
        let one = Endpoints::Count {
            count: 20,
            placement: Placement::Random,
            seed: own,
        };
        assigned(vec![(one.clone(), true), (one, true)], seed).unwrap()
    };
    let members = two(None, 1);
    assert_eq!(members, two(None, 1));
    assert_ne!(members, two(None, 2));
    assert_ne!(members[0], members[1]);
    let members = two(Some(7), 1);
    assert_eq!(
        members,
        two(Some(7), 2),
        "an own seed makes it independent of the run's"
    );
    assert_eq!(
        members[0], members[1],
        "shared workloads with the same seed have the same members"
    );
    // Exclusive ones follow one another in the same order.
    let one = |count| Endpoints::Count {
        count,
        placement: Placement::Random,
        seed: Some(7),
    };
    let apart = exclusive(vec![one(20), one(20)], 1).unwrap();
    assert_eq!(apart.concat(), exclusive(vec![one(40)], 1).unwrap()[0]);
}

#[test]
fn random_members_are_uniform() {
    let mut times = [0u32; 64];
    for seed in 0..2_000 {
        for member in &exclusive(vec![count(16, Placement::Random)], seed).unwrap()[0] {
            times[*member as usize] += 1;
        }
    }
    // 500 expected each; sigma is 19.4.
    assert!(
        times.iter().all(|&times| (422..=578).contains(&times)),
        "{times:?}"
    );
}

#[test]
fn shared_workloads_take_nothing_from_one_another() {
    let members = assigned(
        vec![
            (Endpoints::All, true),
            (Endpoints::Rest, true),
            (count(64, Placement::Linear), true),
            (Endpoints::Range(3, 9), true),
        ],
        1,
    )
    .unwrap();
    assert_eq!(members[0].len(), 64);
    assert_eq!((&members[1], &members[2]), (&members[0], &members[0]));
    // An exclusive workload takes them away from shared ones, and does not get theirs.
    let members = assigned(
        vec![
            (Endpoints::Range(0, 8), true),
            (count(8, Placement::Linear), false),
            (Endpoints::Rest, true),
        ],
        1,
    )
    .unwrap();
    assert_eq!(members[1], (8..16).collect::<Vec<u32>>());
    assert_eq!(members[2], (0..8).chain(16..64).collect::<Vec<u32>>());
}

#[test]
fn all_endpoints_are_listed_once_in_memory() {
    let asked = vec![(Endpoints::All, true); 2];
    let members = assigned_on(&Grouped::network(4, 4, 4), asked, 1).unwrap();
    assert!(Arc::ptr_eq(&members[0], &members[1]));
}

#[test]
fn what_cannot_be_is_refused_with_the_numbers() {
    let cases = [
        (
            vec![(Endpoints::Range(60, 65), false)],
            "endpoint 64 is beyond the network, which has 64",
        ),
        (
            vec![(Endpoints::List(vec![3, 99]), false)],
            "endpoint 99 is beyond the network",
        ),
        (
            vec![(Endpoints::List(vec![3, 4, 3]), true)],
            "endpoint 3 is listed twice",
        ),
        (vec![(Endpoints::Range(5, 5), false)], "5..5 is empty"),
        (
            vec![(count(65, Placement::Linear), false)],
            "65 endpoints are asked for, and 64 of 64",
        ),
        (
            vec![(count(0, Placement::Random), false)],
            "0 endpoints are asked for",
        ),
        (
            vec![
                (Endpoints::Range(0, 60), false),
                (count(5, Placement::RandomRouters), false),
            ],
            "5 endpoints are asked for, and 4 of 64 are free",
        ),
        (
            vec![
                (Endpoints::Range(0, 9), false),
                (Endpoints::List(vec![8]), false),
            ],
            "endpoint 8 belongs to the workload \"w0\" already",
        ),
        (
            vec![(Endpoints::All, true), (Endpoints::List(vec![8]), false)],
            "endpoint 8 belongs to the workload \"w0\" already",
        ),
        (
            vec![(Endpoints::Range(0, 9), false), (Endpoints::All, true)],
            "endpoint 0 belongs to the workload \"w0\" already",
        ),
        (
            vec![(Endpoints::All, false), (Endpoints::Rest, false)],
            "no endpoint is left: all 64",
        ),
    ];
    for (endpoints, words) in cases {
        let error = assigned(endpoints.clone(), 1).expect_err("refused");
        assert!(error.contains(words), "{endpoints:?}: {error}");
    }
}

fn any_endpoints() -> impl Strategy<Value = Endpoints> {
    let placement = prop::sample::select(vec![
        Placement::Linear,
        Placement::Random,
        Placement::RandomGroups,
        Placement::RandomRouters,
    ]);
    prop_oneof![
        Just(Endpoints::All),
        Just(Endpoints::Rest),
        (0u32..64, 1u32..9).prop_map(|(start, length)| Endpoints::Range(start, start + length)),
        prop::collection::btree_set(0u32..64, 1..5)
            .prop_map(|set| Endpoints::List(set.into_iter().collect())),
        (1u32..20, placement, prop::option::of(0u64..3)).prop_map(|(count, placement, seed)| {
            Endpoints::Count {
                count,
                placement,
                seed,
            }
        }),
    ]
}

proptest! {
    #[test]
    fn only_shared_workloads_have_endpoints_in_common(
        asked in prop::collection::vec((any_endpoints(), any::<bool>()), 1..5),
        seed: u64,
    ) {
        let Ok(members) = assigned(asked.clone(), seed) else {
            return Ok(());
        };
        prop_assert_eq!(members.len(), asked.len());
        for (index, list) in members.iter().enumerate() {
            let set: std::collections::BTreeSet<_> = list.iter().collect();
            prop_assert!(!list.is_empty() && set.len() == list.len() && list.iter().all(|&one| one < 64));
            if let Endpoints::Count { count, .. } = asked[index].0 {
                prop_assert_eq!(list.len(), count as usize);
            }
            for (other, more) in members.iter().enumerate().skip(index + 1) {
                let common = more.iter().any(|one| set.contains(one));
                prop_assert!(!common || (asked[index].1 && asked[other].1));
            }
        }
    }
}
