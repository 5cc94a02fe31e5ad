//! Drawings contain the marks and labels of their figures.

use super::lines::{clip, paths};
use super::*;
use crate::figure::{
    Axis, Bars, Graph, Group, Heat, Lines, Link, Node, Point, Series, Ternary, quantile,
};

fn figure(plots: Vec<Plot>) -> Figure {
    Figure {
        id: "f".into(),
        title: "A <title> & more".into(),
        caption: vec!["What it shows.".into(), "word ".repeat(80)],
        panels: plots
            .into_iter()
            .map(|plot| Panel {
                title: "a panel with a title that is much longer than the panel is wide ".repeat(3),
                plot,
            })
            .collect(),
        ..Figure::default()
    }
}

fn lines(points: Vec<Point>, axis: Axis) -> Plot {
    Plot::Lines(Lines {
        x: Axis::new("load", "1"),
        y: axis,
        series: vec![Series {
            name: "one".into(),
            points,
        }],
        markers: true,
        diagonal: true,
    })
}

fn bars(values: &[f64], stacked: bool) -> Plot {
    let bars = values.iter().enumerate();
    Plot::Bars(Bars {
        value: Axis::new("time", "ps").from_zero(),
        groups: vec![Group {
            name: "a job with a name that goes on and on and on and on".into(),
            bars: bars
                .map(|(i, value)| (format!("series {i}"), Point::new(0.0, *value)))
                .collect(),
            ..Group::default()
        }],
        stacked,
        ..Bars::default()
    })
}

/// Dots on both sides of zero.
fn dots(values: &[f64]) -> Plot {
    let Plot::Bars(mut bars) = bars(values, false) else {
        unreachable!()
    };
    bars.dots = true;
    bars.value = Axis::new("difference to A", "%");
    for (_, point) in &mut bars.groups[0].bars {
        point.spread = [point.y - 1.0, point.y + 1.0];
    }
    Plot::Bars(bars)
}

/// A box over values.
fn boxes(values: &[f64]) -> Plot {
    let Plot::Bars(mut bars) = bars(&[quantile(values, 0.5)], false) else {
        unreachable!()
    };
    bars.boxes = true;
    bars.groups[0].values = vec![values.to_vec()];
    Plot::Bars(bars)
}

/// All plots that a result can give, including invalid ones.
fn plots() -> Vec<Plot> {
    let bad = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        0.0,
        -1.0,
        1e300,
        1e-300,
        5.0,
    ];
    let point = |y: f64| Point {
        x: 0.5,
        y,
        spread: [y - 1.0, y + 1.0],
    };
    let mut plots = Vec::new();
    for axis in [
        Axis::new("y", "ps"),
        Axis::new("y", "1").from_zero(),
        Axis::new("y", "ps").log(),
    ] {
        plots.push(lines(Vec::new(), axis.clone()));
        plots.push(lines(
            bad.iter()
                .map(|y| Point::new(0.1 + y.abs().min(1.0), *y))
                .collect(),
            axis.clone(),
        ));
        for y in bad {
            plots.push(lines(vec![point(y)], axis.clone()));
            plots.push(lines(
                vec![Point::new(y, 1.0), Point::new(1.0, y)],
                axis.clone(),
            ));
        }
    }
    for stacked in [false, true] {
        plots.push(bars(&[], stacked));
        plots.push(bars(&[1.0], stacked));
        plots.push(bars(&bad, stacked));
    }
    for values in [&[][..], &[2.0], &[1.0, 2.0, 4.0], &bad, &[3.0; 5]] {
        plots.extend([boxes(values), dots(values)]);
    }
    for points in [
        vec![],
        vec![[0.0; 3]],
        vec![[1.0, 0.0, 0.0]],
        vec![[f64::NAN; 3]],
        vec![[0.2, 0.3, 0.5]; 999],
    ] {
        plots.push(Plot::Ternary(Ternary {
            points,
            ..Ternary::default()
        }));
    }
    for cells in [
        vec![],
        vec![f64::NAN; 4],
        vec![0.0; 4],
        vec![1.0, f64::NAN, f64::INFINITY, -2.0],
        vec![3.0],
    ] {
        let edges = vec![0.0, 1.0, 2.0];
        plots.push(Plot::Heat(Heat {
            x: Axis::new("x", "ps"),
            y: Axis::new("y", "1"),
            value: Axis::new("held", "B").from_zero(),
            x_edges: if cells.is_empty() {
                Vec::new()
            } else {
                edges.clone()
            },
            y_edges: edges,
            cells,
            ..Heat::default()
        }));
    }
    for weights in [
        vec![],
        vec![0.0],
        vec![1.0, 2.0, 3.0],
        bad.to_vec(),
        vec![7.0; 100],
    ] {
        plots.push(graph(&weights));
    }
    plots
}

/// A star around the first node.
fn graph(weights: &[f64]) -> Plot {
    let node = |(place, &weight): (usize, &f64)| Node {
        name: format!("router {place} of a long name that has no room"),
        layer: place.min(1),
        weight,
        words: "what it is".into(),
    };
    let link = |(place, &weight): (usize, &f64)| Link {
        from: place,
        to: 0,
        weight,
        words: "what it is".into(),
    };
    Plot::Graph(Graph {
        heads: vec!["root".into(), "one link away".into()],
        nodes: weights.iter().enumerate().map(node).collect(),
        links: weights.iter().enumerate().skip(1).map(link).collect(),
    })
}

#[test]
fn nodes_stand_beside_what_they_lead_to() {
    let node = |name: &str, layer| Node {
        name: name.into(),
        layer,
        ..Node::default()
    };
    let link = |from, to| Link {
        from,
        to,
        weight: 1.0,
        ..Link::default()
    };
    let graph = Graph {
        nodes: vec![
            node("root", 0),
            node("upper", 1),
            node("lower", 1),
            node("of lower", 2),
            node("of upper", 2),
        ],
        links: vec![link(1, 0), link(2, 0), link(3, 2), link(4, 1)],
        heads: Vec::new(),
    };
    assert_eq!(graph.columns(), [vec![0], vec![1, 2], vec![4, 3]]);
}

/// The file can be rendered, which also says that it is well-formed.
fn rendered(svg: &str) -> Vec<u8> {
    let png = png(svg).unwrap_or_else(|error| panic!("{error}: {svg}"));
    assert_eq!(&png[1..4], b"PNG");
    png
}

#[test]
fn whatever_the_numbers_are_a_figure_can_be_drawn() {
    for plot in plots() {
        let figure = figure(vec![plot.clone()]);
        for place in [Place::File, Place::Page] {
            let text = svg(&figure, place).unwrap_or_else(|error| panic!("{error}: {plot:?}"));
            assert!(
                !text.contains("NaN") && !text.contains("inf"),
                "{plot:?}: {text}"
            );
        }
        let text = svg(&figure, Place::File).expect("draws");
        rendered(&text);
    }
    svg(&Figure::default(), Place::File).expect("an empty figure");
}

#[test]
fn many_panels_of_all_kinds_fit_into_one_figure() {
    for count in [2, 3, 5, 12] {
        let all = plots();
        let figure = figure(all.into_iter().rev().take(count).collect());
        rendered(&svg(&figure, Place::File).expect("draws"));
    }
}

#[test]
fn a_page_has_colours_of_its_own_for_ink_and_a_file_has_not() {
    let figure = figure(vec![lines(
        vec![Point::new(0.1, 1.0), Point::new(0.2, 2.0)],
        Axis::new("y", "ps"),
    )]);
    let (page, file) = (
        svg(&figure, Place::Page).expect("draws"),
        svg(&figure, Place::File).expect("draws"),
    );
    assert!(page.contains("var(--ink)") && page.contains("var(--faint)"));
    assert!(!page.contains(&Ink::Strong.hex()) && !page.contains("What it shows"));
    assert!(!file.contains("var(") && file.contains("What it shows"));
    for text in [page, file] {
        assert!(
            text.contains("aria-label=\"A &lt;title&gt; &amp; more\""),
            "{text}"
        );
    }
}

#[test]
fn a_bitmap_has_letters_though_no_font_of_the_system_is_read() {
    let frame = "<svg width=\"200\" height=\"40\" xmlns=\"http://www.w3.org/2000/svg\">";
    let words = "<text x=\"5\" y=\"30\" font-family=\"Liberation Sans, Arial\" \
                 font-size=\"20\">latency</text>";
    let (with, without) = (
        rendered(&format!("{frame}{words}</svg>")),
        rendered(&format!("{frame}</svg>")),
    );
    assert!(
        with.len() > without.len() + 200,
        "{} and {} bytes",
        with.len(),
        without.len()
    );
}

#[test]
fn series_differ_in_more_than_their_colour() {
    for a in 0..20 {
        for b in 0..a {
            let (a, b) = (style::look(a), style::look(b));
            assert!(a.mark != b.mark || a.dash != b.dash, "{a:?} {b:?}");
            assert!(
                a.colour != b.colour || a.mark != b.mark && a.dash != b.dash,
                "{a:?} {b:?}"
            );
        }
    }
}

#[test]
fn a_line_is_cut_at_the_edges() {
    assert_eq!(clip((0.2, 0.2), (0.8, 0.4)), Some([(0.2, 0.2), (0.8, 0.4)]));
    assert_eq!(clip((0.5, 0.5), (0.5, 2.5)), Some([(0.5, 0.5), (0.5, 1.0)]));
    assert_eq!(
        clip((-1.0, 0.5), (3.0, 0.5)),
        Some([(0.0, 0.5), (1.0, 0.5)])
    );
    assert_eq!(clip((-1.0, 2.0), (3.0, 2.0)), None);
    assert_eq!(clip((1.5, 0.0), (2.0, 1.0)), None);
}

#[test]
fn a_line_is_broken_at_gaps_and_outside() {
    let points = [
        (0.1, 0.1),
        (0.2, 0.2),
        (0.3, f64::NAN),
        (0.4, 0.4),
        (0.5, 0.5),
        (0.6, 1.5),
        (0.7, 1.5),
        (0.8, 0.5),
    ];
    let paths = paths(points);
    assert_eq!(paths.len(), 3, "{paths:?}");
    assert_eq!(paths[0], [(0.1, 0.1), (0.2, 0.2)]);
    assert_eq!(paths[1][..2], [(0.4, 0.4), (0.5, 0.5)]);
    assert_eq!(
        (paths[1].len(), paths[1][2].1, paths[2][0].1),
        (3, 1.0, 1.0)
    );
}

#[test]
fn a_page_says_what_is_under_the_pointer_and_a_file_does_not() {
    let figure = figure(vec![
        lines(vec![Point::new(0.25, 12_500.0)], Axis::new("latency", "ps")),
        bars(&[3e6], false),
    ]);
    let page = svg(&figure, Place::Page).expect("draws");
    for words in ["one\nload: 0.25\nlatency: 12.5 ns", "series 0\ntime: 3 µs"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    rendered(&page);
    assert!(
        !svg(&figure, Place::File)
            .expect("draws")
            .contains("<title>")
    );
}

#[test]
fn a_job_has_one_colour_in_all_figures() {
    let jobs = ["md", "storm", "fft"].map(String::from);
    let all = style::Looks::of(&["md", "storm", "fft"], &jobs);
    let one = style::Looks::of(&["all jobs", "fft"], &jobs);
    assert_eq!(one.of_name("fft"), all.of_name("fft"));
    assert_eq!(one.of_name("all jobs"), style::look(0));
    let parts = style::Looks::of(&["storm.17", "fft, 12 endpoints: least"], &jobs);
    assert_eq!(parts.of_name("storm.17"), all.of_name("storm"));
    assert_eq!(
        parts.of_name("fft, 12 endpoints: least"),
        all.of_name("fft")
    );
    // If a job has several lines, they are told apart.
    let twice = style::Looks::of(&["minimal, md", "par, md"], &jobs);
    assert_ne!(twice.of_name("minimal, md"), twice.of_name("par, md"));
}
