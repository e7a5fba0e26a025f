//! The pages of the documentation about the codes, for `pinnace explain CODE`.

use super::Code;

macro_rules! pages {
    ($($id:literal)*) => {
        static PAGES: &[(&str, &str)] = &[
            $(($id, include_str!(concat!("../../../../docs/diagnostics/", $id, ".md")))),*
        ];
    };
}

pages! {
    "P0101"
    "P0102"
    "P0103"
    "P0104"
    "P0105"
    "P0106"
    "P0107"
    "P0108"
    "P0109"
    "P0110"
    "P0111"
    "P0112"
    "P0113"
    "P0114"
    "P0201"
    "P0202"
    "P0203"
    "P0204"
    "P0205"
    "P0206"
    "P0207"
    "P0208"
    "P0209"
    "P0210"
    "P0211"
    "P0212"
    "P0301"
    "P0302"
    "P0303"
    "P0304"
    "P0305"
    "P0306"
    "P0307"
    "P0308"
    "P0309"
    "P0310"
    "P0311"
    "P0312"
    "P0401"
    "P0402"
    "P0403"
    "P0404"
    "P0405"
    "P0406"
    "P0407"
    "P0408"
    "P0409"
    "P0410"
    "P0411"
    "P0501"
    "P0502"
    "P0503"
    "P0504"
    "P0505"
    "P0506"
    "P0507"
    "P0601"
    "P0602"
    "P0603"
    "P0701"
    "P0702"
    "P0703"
    "P0704"
    "P0705"
    "P0706"
    "P0707"
    "P0801"
    "P0901"
    "P0902"
    "P0903"
    "P0904"
    "P0905"
    "P0906"
    "P0907"
    "P0908"
    "P0909"
    "P0910"
    "P0990"
}

/// The page of a code: why it matters, a wrong example and its repair. In Markdown.
pub fn page(code: &Code) -> &'static str {
    PAGES
        .iter()
        .find(|(id, _)| *id == code.id)
        .map_or(code.summary, |(_, page)| page)
}
