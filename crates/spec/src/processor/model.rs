//! A processor as written: typed, borrowed from its document, with the span of everything a problem
//! could be reported at. Fields that are missing or wrong are `None`; the shape check has said so.

use crate::yaml::Node;
use crate::yaml::access::Name;

/// A processor.
#[derive(Debug)]
pub struct Processor<'d> {
    /// The whole document.
    pub root: &'d Node<'d>,
    /// `source_dir`
    pub source_dir: Option<Name<'d>>,
    /// `job_type`
    pub job_type: Option<Name<'d>>,
    /// `parameters`
    pub parameters: Vec<(Name<'d>, &'d Node<'d>)>,
    /// `environments`
    pub environments: Vec<(Name<'d>, &'d Node<'d>)>,
    /// `requirements`
    pub requirements: Vec<&'d Node<'d>>,
    /// `inputs`
    pub inputs: Vec<Channel<'d>>,
    /// `outputs`
    pub outputs: Vec<Channel<'d>>,
    /// `input_channels`
    pub input_channels: Vec<Declared<'d>>,
    /// `output_channels`
    pub output_channels: Vec<Declared<'d>>,
    /// `metric_definitions`
    pub metrics: Vec<Metric<'d>>,
    /// `instance_count`
    pub instances: u32,
}

/// An entry of `inputs` or `outputs`.
#[derive(Clone, Copy, Debug)]
pub struct Channel<'d> {
    /// Its name.
    pub name: Name<'d>,
    /// The text that says where it lies; `None` if an object names no place.
    pub place: Option<Place<'d>>,
    /// The name of the channel once more, if an object says it.
    pub repeated: Option<Name<'d>>,
    /// The whole value.
    pub node: &'d Node<'d>,
}

/// Where data lies, as written.
#[derive(Clone, Copy, Debug)]
pub enum Place<'d> {
    /// A path or a URL.
    Uri(&'d Node<'d>),
    /// A dataset.
    Dataset(&'d Node<'d>),
    /// One of each, of which only one can be meant.
    Both {
        /// The path or URL.
        uri: &'d Node<'d>,
        /// The dataset.
        dataset: &'d Node<'d>,
    },
}

/// A channel that the code knows.
#[derive(Clone, Copy, Debug)]
pub struct Declared<'d> {
    /// Its name.
    pub name: Name<'d>,
    /// Whether the job cannot do without it.
    pub required: bool,
    /// Whether what lies at its place is kept.
    pub appendable: bool,
}

/// An item of `metric_definitions`.
#[derive(Clone, Copy, Debug)]
pub struct Metric<'d> {
    /// What the number is called.
    pub name: &'d Node<'d>,
    /// How to find it.
    pub regex: &'d Node<'d>,
}
