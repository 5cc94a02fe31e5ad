//! Shared arithmetic of networks whose routers or endpoints are arranged in a space of several
//! dimensions.
//!
//! Place number r has the coordinates r mod s₀, ⌊r / s₀⌋ mod s₁, …, so the first dimension, x, runs
//! fastest. A *line* of dimension d is the s_d places that differ in that coordinate alone. A
//! *slab* is all places with the same coordinate in the longest dimension (the last of them, if
//! several are equally long): a group.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Link, LinkParams, check_size};
use weir_model::{Divisor, Invalid, KindName, LinkKind, PortId, TERMINAL};

/// Maximum number of dimensions: each has a letter.
pub const MOST_DIMENSIONS: usize = 16;

/// The names of the links to endpoints, and of those of each dimension.
const KINDS: &[KindName; MOST_DIMENSIONS + 1] = {
    const fn name(letter: &'static str) -> KindName {
        KindName::Borrowed(letter)
    }
    &[
        name(TERMINAL),
        name("x"),
        name("y"),
        name("z"),
        name("w"),
        name("v"),
        name("u"),
        name("t"),
        name("s"),
        name("r"),
        name("q"),
        name("p"),
        name("o"),
        name("n"),
        name("m"),
        name("l"),
        name("k"),
    ]
};

/// The letters of dimensions.
const LETTERS: &[KindName] = KINDS.split_at(1).1;

/// One dimension.
#[derive(Clone, Copy, Debug)]
struct Dimension {
    size: Divisor,
    /// Distance in numbers from a place to the next one in this dimension.
    stride: Divisor,
}

/// Places in a space of several dimensions.
#[derive(Clone, Debug)]
pub struct Grid {
    dimensions: Arc<[Dimension]>,
    places: u32,
    /// The dimension whose coordinate is the slab.
    longest: usize,
}

impl Grid {
    /// The space of these sizes; `key` is the parameter named in errors.
    ///
    /// # Errors
    /// If there is no dimension or too many, one of less than two places, or more places than can
    /// be numbered.
    pub fn new(sizes: &[u32], key: &str) -> Result<Grid, Invalid> {
        if sizes.is_empty() || sizes.len() > MOST_DIMENSIONS {
            return Err(Invalid::new(
                key,
                format!("has {} dimensions", sizes.len()),
                format!("give from 1 to {MOST_DIMENSIONS} sizes, such as [8, 8]"),
            ));
        }
        if let Some(small) = sizes.iter().find(|&&size| size < 2) {
            return Err(Invalid::new(
                key,
                format!("a dimension of size {small} has no links"),
                "give 2 or more for each dimension, and leave out those of size 1",
            ));
        }
        let mut dimensions = Vec::with_capacity(sizes.len());
        let mut places = 1u32;
        for &size in sizes {
            dimensions.push(Dimension {
                size: Divisor::new(size),
                stride: Divisor::new(places),
            });
            places = places.checked_mul(size).ok_or_else(|| {
                Invalid::new(
                    key,
                    "the network has more routers than can be numbered",
                    "choose a smaller network",
                )
            })?;
        }
        let most = sizes.iter().max().copied().unwrap_or(0);
        let longest = sizes.iter().rposition(|&size| size == most).unwrap_or(0);
        Ok(Grid {
            dimensions: dimensions.into(),
            places,
            longest,
        })
    }

    /// Number of dimensions.
    #[inline]
    pub fn dimensions(&self) -> usize {
        self.dimensions.len()
    }

    /// Places of a line of dimension `d`.
    #[inline]
    pub fn size(&self, d: usize) -> u32 {
        self.dimensions[d].size.get()
    }

    /// All sizes.
    pub fn sizes(&self) -> impl Iterator<Item = u32> + '_ {
        self.dimensions.iter().map(|dimension| dimension.size.get())
    }

    /// Number of places.
    pub fn places(&self) -> u32 {
        self.places
    }

    /// Number of lines of dimension `d`.
    pub fn lines(&self, d: usize) -> u32 {
        self.places / self.size(d)
    }

    /// The coordinate of a place in dimension `d`.
    #[inline]
    pub fn coordinate(&self, place: u32, d: usize) -> u32 {
        let Dimension { size, stride } = self.dimensions[d];
        size.rest(stride.divide(place))
    }

    /// True if two places differ in their coordinates of dimension `d`.
    #[inline]
    pub fn apart(&self, [one, other]: [u32; 2], d: usize) -> bool {
        self.coordinate(one, d) != self.coordinate(other, d)
    }

    /// All coordinates of a place.
    pub fn coordinates(&self, place: u32) -> impl Iterator<Item = u32> + '_ {
        (0..self.dimensions()).map(move |d| self.coordinate(place, d))
    }

    /// The place on the same line of dimension `d` with this coordinate there.
    #[inline]
    pub fn moved(&self, place: u32, d: usize, coordinate: u32) -> u32 {
        let stride = self.dimensions[d].stride.get();
        place - self.coordinate(place, d) * stride + coordinate * stride
    }

    /// The line of dimension `d` that a place is on: lines are numbered by their other coordinates,
    /// x first.
    #[inline]
    pub fn line(&self, place: u32, d: usize) -> u32 {
        let Dimension { size, stride } = self.dimensions[d];
        let above = stride.divide(place);
        size.divide(above) * stride.get() + (place - above * stride.get())
    }

    /// The place with this coordinate on a line of dimension `d`.
    #[inline]
    pub fn on_line(&self, d: usize, line: u32, coordinate: u32) -> u32 {
        let Dimension { size, stride } = self.dimensions[d];
        let above = stride.divide(line);
        let below = line - above * stride.get();
        (above * size.get() + coordinate) * stride.get() + below
    }

    /// The dimension whose coordinate is the slab: the longest.
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// Number of slabs.
    pub fn slabs(&self) -> u32 {
        self.size(self.longest)
    }

    /// The slab of a place.
    #[inline]
    pub fn slab(&self, place: u32) -> u32 {
        self.coordinate(place, self.longest)
    }

    /// The letters of the dimensions, as names of axes.
    pub fn axes(&self) -> &'static [KindName] {
        &LETTERS[..self.dimensions()]
    }

    /// The kinds of links: to endpoints, and those of each dimension.
    pub fn link_kinds(&self) -> &'static [KindName] {
        &KINDS[..=self.dimensions()]
    }

    /// The kind of the links of dimension `d`.
    pub fn link_kind(d: usize) -> LinkKind {
        LinkKind(d as u8 + 1)
    }

    /// `8 x 8`.
    pub fn describe(&self) -> String {
        let sizes: Vec<String> = self.sizes().map(|size| size.to_string()).collect();
        sizes.join(" x ")
    }
}

/// The parameters of networks with the same number of endpoints at each place.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct GridParams {
    /// Routers in each dimension, x first; each 2 or more. 1 to 16 dimensions.
    pub sizes: Vec<u32>,
    /// Endpoints at each router, 1 or more.
    #[serde(default = "one")]
    pub endpoints_per_router: u32,
    /// Links between two routers that are linked, for each dimension. Default: 1 in each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links_between_routers: Option<Vec<u32>>,
    /// The links between endpoints and routers.
    pub terminal: LinkParams,
    /// The links between routers, in every dimension without a separate table.
    pub link: LinkParams,
    /// The links of dimension x.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<LinkParams>,
    /// The links of dimension y.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y: Option<LinkParams>,
    /// The links of dimension z.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub z: Option<LinkParams>,
}

impl GridParams {
    /// The places, and the number of links between two routers in each dimension.
    ///
    /// # Errors
    /// For a number that does not fit.
    pub(super) fn check(&self) -> Result<(Grid, Vec<u32>), Invalid> {
        let grid = Grid::new(&self.sizes, "sizes")?;
        if self.endpoints_per_router == 0 {
            return Err(Invalid::new(
                "endpoints_per_router",
                "is 0",
                "give 1 or more",
            ));
        }
        let given = self.links_between_routers.as_ref();
        let counts = per_dimension(given, &grid, "links_between_routers")?;
        Ok((grid, counts))
    }

    /// The links, unchecked.
    pub(super) fn links(&self) -> GridLinks {
        GridLinks {
            terminal: self.terminal,
            link: self.link,
            own: [self.x, self.y, self.z],
        }
    }
}

/// The links of a network of several dimensions, as given in an experiment file.
pub(super) struct GridLinks {
    pub terminal: LinkParams,
    /// Links of dimensions without separate parameters.
    pub link: LinkParams,
    /// Links of x, y and z, if they have separate parameters.
    pub own: [Option<LinkParams>; 3],
}

impl GridLinks {
    /// The links to endpoints, and those of each dimension.
    pub fn check(&self, grid: &Grid) -> Result<(Link, Vec<Link>), Invalid> {
        let names = grid.link_kinds();
        let terminal = self.terminal.check(LinkKind::TERMINAL, &names[0])?;
        let given = self.own.iter().zip(LETTERS).enumerate();
        for (d, (own, letter)) in given {
            if own.is_some() && d >= grid.dimensions() {
                return Err(Invalid::new(
                    &**letter,
                    format!(
                        "there is no dimension {letter}: the network is {}",
                        grid.describe()
                    ),
                    "leave it out, or add a dimension",
                ));
            }
        }
        let links = (0..grid.dimensions()).map(|d| match self.own.get(d) {
            Some(Some(own)) => own.check(Grid::link_kind(d), &LETTERS[d]),
            _ => self.link.check(Grid::link_kind(d), "link"),
        });
        Ok((terminal, links.collect::<Result<_, _>>()?))
    }
}

/// One number for each dimension, as given in an experiment file; by default 1 for all of them.
fn per_dimension(given: Option<&Vec<u32>>, grid: &Grid, key: &str) -> Result<Vec<u32>, Invalid> {
    let Some(given) = given else {
        return Ok(vec![1; grid.dimensions()]);
    };
    if given.len() != grid.dimensions() {
        return Err(Invalid::new(
            key,
            format!(
                "{} numbers for the {} dimensions of {}",
                given.len(),
                grid.dimensions(),
                grid.describe()
            ),
            "give one number for each dimension",
        ));
    }
    if given.contains(&0) {
        return Err(Invalid::new(key, "is 0", "give 1 or more"));
    }
    Ok(given.clone())
}

/// The default of these numbers.
pub(super) fn one() -> u32 {
    1
}

/// Refuses routers with more ports than can be numbered.
pub(super) fn check_ports(ports: u64) -> Result<(), Invalid> {
    if ports <= u64::from(PortId::MAX) {
        return Ok(());
    }
    Err(Invalid::new(
        "",
        format!("a router would have {ports} ports"),
        format!("a router can have at most {} ports", PortId::MAX),
    ))
}

/// Refuses networks that no machine could simulate, by endpoints and ports at each place.
pub(super) fn check_grid_size(grid: &Grid, endpoints: u32, ports: u64) -> Result<(), Invalid> {
    let (routers, ports) = (u128::from(grid.places()), u128::from(ports));
    check_size(
        "sizes",
        routers * u128::from(endpoints),
        routers * ports,
        routers / u128::from(grid.slabs()) * ports,
    )
}

/// The dimensions given by letters, in that order: `yx` is y and x.
///
/// # Errors
/// If a letter names no dimension, or one of those before it.
pub fn parse_letters(letters: &str, grid: &Grid, key: &str) -> Result<Vec<usize>, Invalid> {
    let all = &LETTERS[..grid.dimensions()];
    let mut order = Vec::new();
    for letter in letters.chars() {
        let found = all.iter().position(|own| own.starts_with(letter));
        let Some(d) = found.filter(|d| !order.contains(d)) else {
            return Err(Invalid::new(
                key,
                format!(
                    "{letters:?} is no list of the dimensions {}",
                    all.join(", ")
                ),
                "write letters of dimensions, each once",
            ));
        };
        order.push(d);
    }
    Ok(order)
}

/// The order of all dimensions given by letters: `yx` is y first.
///
/// # Errors
/// If the letters do not name each dimension once.
pub fn parse_order(letters: &str, grid: &Grid, key: &str) -> Result<Vec<usize>, Invalid> {
    let all = &LETTERS[..grid.dimensions()];
    match parse_letters(letters, grid, key) {
        Ok(order) if order.len() == all.len() => Ok(order),
        _ => Err(Invalid::new(
            key,
            format!(
                "{letters:?} is not an order of the dimensions {}",
                all.join(", ")
            ),
            format!("write each letter once, such as {:?}", all.concat()),
        )),
    }
}

/// An order of dimensions in letters.
pub fn order_letters(order: &[usize]) -> String {
    order.iter().map(|&d| &*LETTERS[d]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn places_lines_and_slabs_agree(sizes in prop::collection::vec(2u32..6, 1..5)) {
            let grid = Grid::new(&sizes, "sizes").expect("a small grid");
            let count: u32 = sizes.iter().product();
            prop_assert_eq!(grid.places(), count);
            prop_assert!(sizes.iter().all(|&size| size <= grid.slabs()));
            for place in 0..count {
                let coordinates: Vec<u32> = grid.coordinates(place).collect();
                let number = coordinates.iter().zip(&sizes).rev().fold(0, |sum, (c, size)| sum * size + c);
                prop_assert_eq!(number, place);
                for d in 0..sizes.len() {
                    let line = grid.line(place, d);
                    prop_assert!(line < grid.lines(d));
                    prop_assert_eq!(grid.on_line(d, line, coordinates[d]), place);
                    for other in 0..sizes[d] {
                        let moved = grid.moved(place, d, other);
                        prop_assert_eq!(grid.line(moved, d), line);
                        prop_assert_eq!(grid.coordinate(moved, d), other);
                    }
                }
            }
            let slabs: Vec<u32> = (0..count).map(|place| grid.slab(place)).collect();
            for slab in 0..grid.slabs() {
                let own = slabs.iter().filter(|&&one| one == slab);
                prop_assert_eq!(own.count() as u32 * grid.slabs(), count);
            }
        }
    }

    #[test]
    fn orders_are_letters() {
        let grid = Grid::new(&[2, 3, 4], "sizes").unwrap();
        assert_eq!(parse_order("yxz", &grid, "order").unwrap(), [1, 0, 2]);
        assert_eq!(order_letters(&[1, 0, 2]), "yxz");
        for wrong in ["", "xy", "xyy", "xyzw", "xyzx", "abc"] {
            let error = parse_order(wrong, &grid, "order").unwrap_err();
            assert_eq!(error.remedy, "write each letter once, such as \"xyz\"");
        }
    }

    #[test]
    fn what_is_no_space_is_refused() {
        for (sizes, what) in [
            (vec![], "0 dimensions"),
            (vec![3; 17], "17 dimensions"),
            (vec![3, 1], "size 1 has no links"),
            (vec![65_536, 65_536], "more routers than can be numbered"),
        ] {
            let error = Grid::new(&sizes, "sizes").unwrap_err();
            assert!(error.message.contains(what), "{error:?}");
        }
    }
}
