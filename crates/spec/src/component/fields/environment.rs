//! `environment`: image and packages.

use pinnace_core::fidelity::Feature;

use crate::shape::{FREE_MAP, Field, Object, Shape, TEXT, TextRule, Unknown, field};

/// The name of a registered environment, or its parts.
pub(super) const ENVIRONMENT_SHAPE: Shape =
    Shape::Either(&[Shape::Text(REGISTERED), Shape::Object(&ENVIRONMENT)]);

const REGISTERED: TextRule = TextRule {
    accepts: |text| text.len() > "azureml:".len() && text.starts_with("azureml:"),
    pattern: r"^azureml:[\s\S]+$",
    words: "the name of a registered environment, such as `azureml:NAME:VERSION`",
    max_length: 1024,
};

const fn packages(name: &'static str, shape: Shape, doc: &'static str) -> Field {
    field(name, shape, doc).needs(Feature::Packages)
}

pub(super) static ENVIRONMENT: Object = Object {
    name: "environment",
    doc: "The image and the packages that the command needs.",
    fields: &[
        packages("name", TEXT, "The name of a registered environment."),
        packages(
            "version",
            Shape::TextOrNumber,
            "The version of a registered environment.",
        ),
        field("docker", Shape::Object(&DOCKER), "The image.").needs(Feature::Image),
        field("image", TEXT, "The image's reference (v2).").needs(Feature::Image),
        field(
            "build",
            Shape::Object(&V2_BUILD),
            "How the image is made (v2).",
        )
        .needs(Feature::Image),
        packages("conda", Shape::Object(&CONDA), "The packages."),
        packages(
            "conda_file",
            Shape::Either(&[TEXT, FREE_MAP]),
            "The conda file with the packages (v2 and Spark).",
        ),
        field(
            "os",
            Shape::Choice(&["Linux", "Windows", "linux", "windows"]),
            "The operating system.",
        )
        .default("\"Linux\"")
        .needs_by_value(&[("Windows", Feature::Windows), ("windows", Feature::Windows)]),
        packages(
            "python",
            Shape::Object(&PYTHON),
            "How Python's packages are looked after.",
        ),
        field("description", TEXT, "What it is, for people.").needs(Feature::Words),
        field("tags", FREE_MAP, "Words for people.").needs(Feature::Words),
        packages(
            "inference_config",
            FREE_MAP,
            "How the image answers requests.",
        ),
    ],
    unknown: Unknown::Refuse,
    absent: &[],
};

static DOCKER: Object = Object {
    name: "docker section",
    doc: "The image that the command runs in.",
    fields: &[
        field(
            "image",
            TEXT,
            "The image's reference, such as `mcr.microsoft.com/azureml/openmpi3.1.2-ubuntu18.04`.",
        )
        .also(&["baseImage", "base_image"])
        .needs(Feature::Image),
        field("build", Shape::Object(&BUILD), "How the image is made.").needs(Feature::Image),
        field(
            "base_dockerfile",
            TEXT,
            "The Dockerfile, by its path or as its text.",
        )
        .also(&["baseDockerfile"])
        .needs(Feature::Image),
    ],
    unknown: Unknown::Refuse,
    absent: &[],
};

static BUILD: Object = Object {
    name: "image build",
    doc: "How the image is made.",
    fields: &[field(
        "dockerfile",
        TEXT,
        "The Dockerfile: `file:` and its path, or its text.",
    )
    .required()
    .needs(Feature::Image)],
    unknown: Unknown::Refuse,
    absent: &[],
};

static V2_BUILD: Object = Object {
    name: "build context",
    doc: "How the image is made (v2).",
    fields: &[
        field("path", TEXT, "The folder that is sent to the builder.").needs(Feature::Image),
        field("dockerfile_path", TEXT, "The Dockerfile in it.")
            .default("\"Dockerfile\"")
            .needs(Feature::Image),
    ],
    unknown: Unknown::Refuse,
    absent: &[],
};

static CONDA: Object = Object {
    name: "conda section",
    doc: "The packages. Of several ways to name them the first in this table counts.",
    fields: &[
        packages(
            "conda_dependencies",
            FREE_MAP,
            "The packages as a conda file would list them.",
        )
        .also(&["condaDependencies"]),
        packages(
            "conda_dependencies_file",
            TEXT,
            "The conda file, relative to the code.",
        )
        .also(&["condaDependenciesFile"]),
        packages(
            "pip_requirements_file",
            TEXT,
            "The requirements file of pip, relative to the code.",
        )
        .also(&["pipRequirementsFile"]),
    ],
    unknown: Unknown::Refuse,
    absent: &[],
};

static PYTHON: Object = Object {
    name: "python section",
    doc: "How Python's packages are looked after.",
    fields: &[
        packages(
            "user_managed_dependencies",
            Shape::Flag,
            "Whether the image already has all packages.",
        )
        .default("false"),
        packages("interpreter_path", TEXT, "The interpreter in the image."),
    ],
    unknown: Unknown::Refuse,
    absent: &[],
};
