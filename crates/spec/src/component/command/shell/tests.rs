use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn plain_characters_written_at_once_are_the_same_as_one_by_one(
        text in r#"([a-cA-Z0-9_./-]{1,4}|[ ${}()'"\\|#`<>=*~\n\t]|ü){0,40}"#,
    ) {
        let (mut at_once, mut one_by_one) = (Line::default(), Line::default());
        at_once.literal(&text);
        text.chars().for_each(|char| one_by_one.char(char));
        prop_assert_eq!(at_once.open_quote(), one_by_one.open_quote());
        prop_assert_eq!(at_once.unquotable(), one_by_one.unquotable());
        let (at_once, one_by_one) = (at_once.finish(), one_by_one.finish());
        prop_assert_eq!(at_once.words, one_by_one.words);
        prop_assert_eq!(at_once.line, one_by_one.line);
        prop_assert_eq!(at_once.is_live, one_by_one.is_live);
    }
}
