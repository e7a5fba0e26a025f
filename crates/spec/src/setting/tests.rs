use super::*;
use crate::yaml::{Scalar, Style, Value};

#[test]
fn a_flag_without_an_equals_sign_is_refused() {
    let sources = Sources::default();
    let style = Style::Plain;
    let text = "".into();
    let mut root = Node::new(Span::default(), Value::Scalar(Scalar { text, style }));
    let mut diagnostics = Diagnostics::default();
    let settings = [Setting::parameter("batch"), Setting::set("=1")];
    apply(&mut root, &settings, &sources, &mut diagnostics);
    let messages: Vec<&str> = diagnostics.iter().map(|found| &*found.message).collect();
    assert_eq!(
        messages,
        ["`-p` has no `=`", "`--set` says nothing before its `=`"]
    );
}
