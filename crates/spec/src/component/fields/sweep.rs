//! The fields of a sweep.

use super::common::{at_least, elsewhere};
use crate::shape::{Field, Object, Shape, TEXT, Tagged, TextRule, Unknown};

/// `search_space`.
pub(super) const SEARCH_SPACE: Shape = Shape::Map {
    key: "parameter",
    keys: TextRule::ANY,
    of: &Shape::Tagged(&EXPRESSION),
    min: 1,
};

static EXPRESSION: Tagged = Tagged {
    name: "search expression",
    by: "type",
    cases: &[
        ("choice", &CHOICE),
        ("uniform", &UNIFORM),
        ("loguniform", &UNIFORM),
        ("quniform", &Q_UNIFORM),
        ("qloguniform", &Q_UNIFORM),
        ("normal", &NORMAL),
        ("lognormal", &NORMAL),
        ("qnormal", &Q_NORMAL),
        ("qlognormal", &Q_NORMAL),
        ("randint", &RANDINT),
    ],
    missing: None,
    labelled: false,
    other: None,
};

const TYPE: Field = elsewhere("type", TEXT, "How the values are drawn.").required();

const fn number(name: &'static str, doc: &'static str) -> Field {
    elsewhere(name, Shape::Number, doc).required()
}

static CHOICE: Object = Object {
    name: "choice",
    doc: "One of some values (`choice`). A value that is a mapping with expressions in it is a space of its own.",
    fields: &[
        TYPE,
        elsewhere(
            "values",
            Shape::List {
                of: &Shape::Any,
                min: 1,
            },
            "The values.",
        )
        .required(),
    ],
    unknown: Unknown::Refuse,
    absent: &[],
};

static UNIFORM: Object = Object {
    name: "uniform",
    doc: "A number between two (`uniform`, `loguniform`).",
    fields: &[
        TYPE,
        number("min_value", "The least value."),
        number("max_value", "The greatest value."),
    ],
    unknown: Unknown::Refuse,
    absent: &[],
};

static Q_UNIFORM: Object = Object {
    name: "rounded uniform",
    doc: "A number between two, rounded (`quniform`, `qloguniform`).",
    fields: &[
        TYPE,
        number("min_value", "The least value."),
        number("max_value", "The greatest value."),
        number("q", "It is rounded to a multiple of this."),
    ],
    unknown: Unknown::Refuse,
    absent: &[],
};

static NORMAL: Object = Object {
    name: "normal",
    doc: "A number around another (`normal`, `lognormal`).",
    fields: &[
        TYPE,
        number("mu", "The mean."),
        number("sigma", "The standard deviation."),
    ],
    unknown: Unknown::Refuse,
    absent: &[],
};

static Q_NORMAL: Object = Object {
    name: "rounded normal",
    doc: "A number around another, rounded (`qnormal`, `qlognormal`).",
    fields: &[
        TYPE,
        number("mu", "The mean."),
        number("sigma", "The standard deviation."),
        number("q", "It is rounded to a multiple of this."),
    ],
    unknown: Unknown::Refuse,
    absent: &[],
};

static RANDINT: Object = Object {
    name: "random integer",
    doc: "A whole number from 0 (`randint`).",
    fields: &[
        TYPE,
        elsewhere("upper", at_least(1), "It is smaller than this.").required(),
    ],
    unknown: Unknown::Refuse,
    absent: &[],
};

/// `objective`.
pub(super) static OBJECTIVE: Object = Object {
    name: "objective",
    doc: "What a sweep looks for.",
    fields: &[
        elsewhere(
            "primary_metric",
            Shape::Either(&[TEXT, Shape::Object(&PRIMARY_METRIC)]),
            "The metric by which trials are judged.",
        )
        .required(),
        elsewhere(
            "goal",
            Shape::Choice(&["maximize", "minimize"]),
            "Whether more is better.",
        )
        .required(),
    ],
    unknown: Unknown::Warn,
    absent: &[],
};

static PRIMARY_METRIC: Object = Object {
    name: "primary metric",
    doc: "The metric by which trials are judged, and those that it can be.",
    fields: &[
        elsewhere("default", TEXT, "The metric unless another is chosen."),
        elsewhere(
            "enum",
            Shape::List { of: &TEXT, min: 1 },
            "The metrics that it can be.",
        ),
    ],
    unknown: Unknown::Warn,
    absent: &[],
};

/// `early_termination`.
pub(super) static EARLY_TERMINATION: Object = Object {
    name: "early termination",
    doc: "When a trial is given up.",
    fields: &[
        elsewhere(
            "policy_type",
            Shape::Choice(&[
                "bandit",
                "median_stopping",
                "truncation_selection",
                "default",
            ]),
            "By which rule.",
        )
        .also(&["type"])
        .required_with_stub("bandit"),
        elsewhere(
            "evaluation_interval",
            at_least(1),
            "After how many reports it is judged.",
        ),
        elsewhere(
            "delay_evaluation",
            at_least(0),
            "How many reports go before the first judgement.",
        ),
        elsewhere(
            "slack_factor",
            Shape::Number,
            "How much worse than the best a trial may be, as a ratio (bandit).",
        ),
        elsewhere(
            "slack_amount",
            Shape::Number,
            "How much worse than the best a trial may be (bandit).",
        ),
        elsewhere(
            "truncation_percentage",
            Shape::Integer {
                min: 1,
                max: 99,
                null: false,
            },
            "How many of the worst are given up each time, in percent (truncation selection).",
        ),
    ],
    unknown: Unknown::Warn,
    absent: &[],
};

/// `limits` of a sweep.
pub(super) static SWEEP_LIMITS: Object = Object {
    name: "sweep limits",
    doc: "The limits of a sweep.",
    fields: &[
        elsewhere(
            "max_total_trials",
            at_least(1),
            "How many trials there are at most.",
        ),
        elsewhere(
            "max_concurrent_trials",
            at_least(1),
            "How many run at the same time.",
        ),
        elsewhere(
            "timeout_minutes",
            at_least(1),
            "The longest time for all, in minutes.",
        ),
        elsewhere(
            "timeout",
            at_least(1),
            "The longest time for all, in seconds (v2).",
        ),
        elsewhere(
            "trial_timeout",
            at_least(1),
            "The longest time for one trial, in seconds (v2).",
        ),
    ],
    unknown: Unknown::Warn,
    absent: &[],
};
