//! Texts that are right, and their trees.

use super::tree;

#[test]
fn block_collections_nest() {
    let text = "a: 1\nb:\n  c: x y\n  d:\n  - 1\n  -  - 2\n     - e: f\n       g:\n  h: i\nj:\n- k\n- l: m\n  n: o\n";
    assert_eq!(
        tree(text),
        "{a: <1>, b: {c: <x y>, d: [<1>, [<2>, {e: <f>, g: <>}]], h: <i>}, j: [<k>, {l: <m>, n: <o>}]}"
    );
}

#[test]
fn scalars_of_every_style_are_read() {
    let text = "a: x\n  y\n\n  z # c\nb: 'it''s\n  one'\nc: \"q\\tw\\\n  e\\u00e9\"\nd: |\n  l1\n   l2\n\n  l3\ne: >-\n  f1\n  f2\n\n  f3\n\nf: |+\n  k\n\n";
    assert_eq!(
        tree(text),
        r#"{a: <x y
z>, b: 'it's one', c: "q\tweé", d: |"l1\n l2\n\nl3\n", e: >"f1 f2\nf3", f: |"k\n\n"}"#
    );
}

#[test]
fn brackets_are_read() {
    let text = "a: [1, 'x', {b: c, d: , e}, [f: g], ]\nh: {\"i\":1, \"j\": [\n  2,\n  3\n  ]\n}\n";
    assert_eq!(
        tree(text),
        r"{a: [<1>, 'x', {b: <c>, d: <>, e: <>}, [{f: <g>}]], h: {i: <1>, j: [<2>, <3>]}}"
    );
}

#[test]
fn aliases_and_merges_copy() {
    let text = "x: &x {a: 1, b: 2}\ny: &y\n  b: 3\n  c: 4\nz:\n  <<: [*x, *y]\n  a: 0\nw: *x\n";
    assert_eq!(
        tree(text),
        "{x: {a: <1>, b: <2>}, y: {b: <3>, c: <4>}, z: {a: <0>, b: <2>, c: <4>}, w: {a: <1>, b: <2>}}"
    );
}

#[test]
fn an_anchor_and_a_tag_may_stand_on_lines_of_their_own() {
    assert_eq!(tree("&a\n!t b\n"), "!t <b>");
    assert_eq!(
        tree("a: &a\n  !t\n  &k b: c\nd: *k\n"),
        "{a: !t {b: <c>}, d: <b>}"
    );
}
