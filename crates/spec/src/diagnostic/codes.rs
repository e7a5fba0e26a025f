//! Every kind of problem. Ids are grouped: P01 text and YAML, P02 fields, P03 references,
//! P04 templates, P05 prerequisites and plugins, P06 scheduling, P07 command line, P08 fidelity,
//! P09 lints, P10 components and, from P1080 on, tenant overrides.

use super::{Code, Severity};

/// The code of an id or a name.
pub fn find(word: &str) -> Option<&'static Code> {
    ALL.iter()
        .copied()
        .find(|code| code.id.eq_ignore_ascii_case(word) || code.name == word)
}

macro_rules! codes {
    ($($const:ident = $id:literal $name:literal $severity:ident: $summary:literal;)*) => {
        $(
            #[doc = $summary]
            pub static $const: Code =
                Code { id: $id, name: $name, severity: Severity::$severity, summary: $summary };
        )*
        /// All of them, by id.
        pub static ALL: &[&Code] = &[$(&$const),*];
    };
}

codes! {
    SYNTAX = "P0101" "syntax" Error: "the text is not valid YAML";
    DUPLICATE_KEY = "P0102" "duplicate-key" Error: "a mapping has one key twice";
    SEVERAL_DOCUMENTS = "P0103" "several-documents" Error: "the file holds more than one YAML document";
    TAB_INDENT = "P0104" "tab-indent" Error: "a tab stands where YAML wants spaces";
    UNKNOWN_ALIAS = "P0105" "unknown-alias" Error: "an alias has no anchor before it";
    NOT_UTF8 = "P0106" "not-utf8" Error: "the file is not UTF-8 text";
    TOO_LARGE = "P0107" "too-large" Error: "the file is larger than the limit";
    TOO_DEEP = "P0108" "too-deep" Error: "the document is nested deeper than the limit";
    TOO_MANY_NODES = "P0109" "too-many-nodes" Error: "the document has more nodes than the limit once aliases are expanded";
    BAD_KEY = "P0110" "bad-key" Error: "a mapping key is not a plain text";
    BAD_MERGE = "P0111" "bad-merge" Error: "a merge key does not name a mapping";
    EMPTY_FILE = "P0112" "empty-file" Error: "the file holds no document";
    CONTROL_CHARACTER = "P0113" "control-character" Error: "the text holds a character that YAML does not allow";
    TOO_MANY_PROBLEMS = "P0114" "too-many-problems" Error: "the file has more problems than are shown";

    UNKNOWN_KEY = "P0201" "unknown-key" Error: "a key that nothing reads";
    MISSING_KEY = "P0202" "missing-key" Error: "a required key is missing";
    WRONG_TYPE = "P0203" "wrong-type" Error: "a value is of the wrong type";
    OUT_OF_RANGE = "P0204" "out-of-range" Error: "a number is outside its limits";
    BAD_TEXT = "P0205" "bad-text" Error: "a text is not of the form its field asks for";
    BAD_CHOICE = "P0206" "bad-choice" Error: "a value is none of those allowed";
    TOO_FEW = "P0207" "too-few" Error: "a list or mapping has too few entries";
    IGNORED_KEY = "P0208" "ignored-key" Warning: "a key that the protocol accepts and nothing reads";
    UNKNOWN_DIALECT = "P0209" "unknown-dialect" Error: "the file is of no dialect that Pinnace knows";
    MASKED_SECRETS = "P0210" "masked-secrets" Error: "the secrets were masked when the job was exported";
    TWO_SPELLINGS = "P0211" "two-spellings" Error: "a mapping has one field in two spellings";
    PROBABLE_TYPO = "P0212" "probable-typo" Warning: "a key of the user's own looks like a misspelt one";

    UNKNOWN_PREREQUISITE = "P0301" "unknown-prerequisite" Error: "a name that no prerequisite has";
    DUPLICATE_PREREQUISITE = "P0302" "duplicate-prerequisite" Error: "two prerequisites of one type share a name";
    WRONG_PREREQUISITE_TYPE = "P0303" "wrong-prerequisite-type" Error: "a prerequisite is named where one of another type is wanted";
    AMBIGUOUS_PREREQUISITE = "P0304" "ambiguous-prerequisite" Warning: "a name fits prerequisites of several types";
    DUPLICATE_DEPLOYMENT = "P0305" "duplicate-deployment" Error: "two deployments share a name";
    UNKNOWN_DEPLOYMENT = "P0306" "unknown-deployment" Error: "the default deployment is not defined";
    UNUSED_ROLE = "P0307" "unused-role" Warning: "a deployment or plugin speaks of a task role that the job does not have";
    ROLE_NAMES_COLLIDE = "P0308" "role-names-collide" Warning: "two task roles have one name once case and punctuation are dropped";
    MISSING_ITEM = "P0309" "missing-item" Error: "a marketplace item cannot be found";
    INVALID_ITEM = "P0310" "invalid-item" Error: "a marketplace item is itself wrong";
    WRONG_ITEM_TYPE = "P0311" "wrong-item-type" Error: "a marketplace item is of another type than its reference says";
    NO_MARKETPLACE = "P0312" "no-marketplace" Warning: "a marketplace item is named and no marketplace is set up";

    UNCLOSED_TAG = "P0401" "unclosed-tag" Error: "a `<%` has no `%>`";
    EMPTY_TAG = "P0402" "empty-tag" Error: "a tag names nothing";
    UNSUPPORTED_TAG = "P0403" "unsupported-tag" Error: "a tag of another template language, which OpenPAI drops without a word";
    UNKNOWN_SCOPE = "P0404" "unknown-scope" Error: "a tag starts with a name that is no scope";
    BAD_PATH = "P0405" "bad-path" Error: "the path in a tag cannot be read";
    NO_SCOPE = "P0406" "no-scope" Error: "a tag uses a scope that has nothing at this place";
    MISSING_REFERENCE = "P0407" "missing-reference" Error: "a tag names a value that is not there";
    NOT_A_VALUE = "P0408" "not-a-value" Error: "a tag names a mapping, which cannot be written into a text";
    OUT_OF_LIST = "P0409" "out-of-list" Error: "a tag asks for an item that the list does not have";
    INHERITED_TWICE = "P0410" "inherited-twice" Error: "a value is inherited from two prerequisites that are equally near";
    TAG_IN_VALUE = "P0411" "tag-in-value" Warning: "the value that a tag takes holds a tag, which stays as it is";
    TOO_MUCH_TEXT = "P0412" "too-much-text" Error: "the texts of a job are too long once tags have their values";

    REQUIRE_CYCLE = "P0501" "require-cycle" Error: "prerequisites require each other in a circle";
    UNKNOWN_PLUGIN = "P0502" "unknown-plugin" Error: "a plugin that Pinnace does not have";
    MIXED_COMMANDS = "P0503" "mixed-commands" Error: "a prerequisite has both callbacks and preCommands or postCommands";
    VOID_JOB_SSH = "P0504" "void-job-ssh" Warning: "job-to-job ssh is off without gang allocation";
    MOUNT_CONFLICT = "P0505" "mount-conflict" Error: "two storages are mounted at one place";
    BAD_MOUNT_POINT = "P0506" "bad-mount-point" Error: "a mount point is not an absolute path";
    TANGLED_PREREQUISITES = "P0507" "tangled-prerequisites" Error: "the prerequisites require each other too often to follow";

    UNKNOWN_SCHEDULED_ROLE = "P0601" "unknown-scheduled-role" Error: "the scheduler settings speak of a task role that the job does not have";
    SKU_AND_CELL = "P0602" "sku-and-cell" Error: "a task role asks for both a kind of hardware and a pinned cell";
    UNEVEN_AFFINITY = "P0603" "uneven-affinity" Error: "task roles of one affinity group ask for different hardware";

    BAD_SETTING = "P0701" "bad-setting" Error: "a flag that sets something is not of the form NAME=VALUE, or does not fit the file";
    UNKNOWN_PARAMETER = "P0702" "unknown-parameter" Error: "a `-p` names a parameter that the file does not declare";
    BAD_QUERY = "P0703" "bad-query" Error: "the path of a `--set` is not a JSONPath, or not one that can be set";
    NOTHING_SELECTED = "P0704" "nothing-selected" Error: "the path of a `--set` selects nothing";
    SECRET_IN_FLAG = "P0705" "secret-in-flag" Error: "a `--set` would put a secret on the command line";
    REPEATED_SETTING = "P0706" "repeated-setting" Warning: "two flags set the same value";
    UNKNOWN_SECRET = "P0707" "unknown-secret" Error: "a `--secret` names a secret that the file neither has nor uses";

    FIDELITY_LOSS = "P0801" "fidelity-loss" Error: "with `--strict`, a field that would not be honoured";

    EARLY_SUCCESS = "P0901" "early-success" Warning: "a task role that succeeds ends the job while others still work";
    NEVER_FAILS = "P0902" "never-fails" Warning: "no failure of any task fails the job";
    UNUSED_PARAMETER = "P0903" "unused-parameter" Warning: "a parameter that no tag names";
    UNUSED_SECRET = "P0904" "unused-secret" Warning: "a secret that no tag names";
    UNUSED_PREREQUISITE = "P0905" "unused-prerequisite" Warning: "a prerequisite that nothing names";
    SECRET_IN_CLEAR = "P0906" "secret-in-clear" Warning: "the value of a secret is written outside `secrets`";
    SHORT_SECRET = "P0907" "short-secret" Warning: "a secret is too short to be masked in logs";
    VOID_RETRY = "P0908" "void-retry" Warning: "retries of single tasks, which gang allocation makes void";
    UNKNOWN_VARIABLE = "P0909" "unknown-variable" Warning: "a command reads a `PAI_` variable that no task finds";
    CLEAR_PASSWORD = "P0910" "clear-password" Warning: "the password of an image is written in clear";
    BAD_ALLOW = "P0990" "bad-allow" Warning: "an `allow` names no warning that Pinnace knows";

    EQUAL_NAMES = "P1001" "equal-names" Error: "two inputs or outputs differ only in small and capital letters";
    SHARED_NAME = "P1002" "shared-name" Warning: "an input and an output have one name";
    UNDECLARED_PLACEHOLDER = "P1003" "undeclared-placeholder" Error: "a command names an input or output that the component does not have";
    UNUSED_INPUT = "P1004" "unused-input" Warning: "an input that the command never uses";
    UNUSED_OUTPUT = "P1005" "unused-output" Warning: "an output that the command never uses";
    BARE_OPTIONAL = "P1006" "bare-optional" Error: "an optional input stands outside a group of the command";
    BAD_MODULE_ID = "P1007" "bad-module-id" Error: "the id of a module is not a GUID";
    FOLDER_OUTPUT = "P1008" "folder-output" Error: "an output of a Hemera component is not a file";
    PROBABLE_TYPE = "P1009" "probable-type" Warning: "the type of an input or output looks like a misspelt one";
    BAD_DEFAULT = "P1010" "bad-default" Error: "the default of a parameter is not one of its values";
    BAD_BOUNDS = "P1011" "bad-bounds" Error: "the bounds of a parameter are no numbers or leave nothing between them";
    REPEATED_CHOICE = "P1012" "repeated-choice" Warning: "a value stands twice in an enum";
    ODD_TAGS = "P1013" "odd-tags" Warning: "tags are a text or a list, which not every client takes";
    MISSING_FILE = "P1014" "missing-file" Error: "a file or folder that the component names is not there";
    REPEATED_PACKAGES = "P1015" "repeated-packages" Warning: "packages are named in two ways, of which only one counts";
    VOID_ENVIRONMENT_NAME = "P1016" "void-environment-name" Warning: "an environment has both a registered name and parts of its own";
    BAD_INCLUDE = "P1017" "bad-include" Error: "an additional include cannot be laid into the code";
    UNKNOWN_DATA = "P1018" "unknown-data" Error: "a section names data that the component does not have";
    BAD_TRIAL = "P1019" "bad-trial" Error: "the component inside another one cannot be used";
    UNKNOWN_SEARCH_PARAMETER = "P1020" "unknown-search-parameter" Error: "a sweep searches a parameter that its trial does not have";
    GLUED_ARGUMENT = "P1021" "glued-argument" Error: "a value in Scope arguments has text glued to it";
    EARLY_DATA = "P1022" "early-data" Error: "data is to be available before the job has ended";
    OTHER_SCHEMA = "P1023" "other-schema" Warning: "`$schema` is that of another type of component";
    NO_CLUSTER = "P1024" "no-cluster" Warning: "the command of a Hemera component names no cluster";
    NO_VERSION = "P1025" "no-version" Warning: "a component has no version";
    MISSING_INPUT = "P1026" "missing-input" Error: "a required input of a component has no value";
    UNKNOWN_INPUT = "P1027" "unknown-input" Error: "a flag gives a value to an input or output that the component does not have";
    BAD_INPUT = "P1028" "bad-input" Error: "the value that a flag gives to an input does not fit it";
    BAD_ENTRY = "P1029" "bad-entry" Error: "a Spark component says neither or twice what to start";
    BAD_POLICY = "P1030" "bad-policy" Error: "a policy of early termination lacks what it judges by";
    REMOTE_CODE = "P1031" "remote-code" Error: "the code of a component does not lie on this machine";
    MISSING_ENTRY = "P1032" "missing-entry" Error: "the program that a component starts is not there";
    MISSING_MODULE = "P1033" "missing-module" Error: "the module of a component is not registered here";
    NO_ENGINE = "P1034" "no-engine" Error: "a component needs an engine that this machine has not";
    NO_MODULE_PROGRAM = "P1035" "no-module-program" Error: "the program that a command starts is not in its module, or not one for this machine";
    FOREIGN_PLACEHOLDER = "P1050" "foreign-placeholder" Error: "a placeholder or group is written as in the other version of components";
    NEAR_PLACEHOLDER = "P1051" "near-placeholder" Warning: "something in a command looks like a placeholder and is none";
    UNKNOWN_BINDING = "P1052" "unknown-binding" Error: "a `${{ … }}` in a command names nothing that a component has";
    GROUP_WITHOUT_PLACEHOLDER = "P1053" "group-without-placeholder" Warning: "brackets in a command look like a group and hold no placeholder";
    NESTED_GROUP = "P1054" "nested-group" Warning: "a group of a command stands in brackets";
    UNPAIRED_BRACKET = "P1055" "unpaired-bracket" Warning: "a bracket of a group has no partner";
    TEST_AS_GROUP = "P1056" "test-as-group" Warning: "a shell's test is read as a group or an escape of the command";
    UNQUOTABLE_PLACEHOLDER = "P1057" "unquotable-placeholder" Error: "a placeholder stands where its value cannot be quoted";
    OPEN_QUOTE = "P1058" "open-quote" Warning: "a quote in a command is never closed";
    SEVERAL_OPTIONALS = "P1059" "several-optionals" Warning: "a group disappears with any of several optional inputs";
    ARGUMENT_SHIFT = "P1060" "argument-shift" Warning: "without a missing input, an argument reaches the wrong parameter";
    REFUSED_ARGUMENTS = "P1061" "refused-arguments" Warning: "the entry script of a command would refuse its arguments";
    BAD_MODULE = "P1065" "bad-module" Error: "a file is not the interface line of an Aether module";
    UNKNOWN_MODULE_PART = "P1066" "unknown-module-part" Error: "a part of a module's interface whose meaning is not known";
    UNSAID_MODULE_PART = "P1067" "unsaid-module-part" Warning: "a module does not say what a component needs, or says what a component has no place for";
    BAD_RUN_SETTINGS = "P1068" "bad-run-settings" Error: "a file of run settings is none, or is not for this kind of file";
    BAD_VARIABLES = "P1069" "bad-variables" Error: "the variables of a component are no JSON object of texts";
    BAD_REGISTER = "P1070" "bad-register" Error: "an output cannot be registered as a dataset as asked";

    ODD_JOB_TYPE = "P1120" "odd-job-type" Warning: "a processor has a type of job that PAI does not know";
    MISSING_CHANNEL = "P1121" "missing-channel" Error: "a required input of a processor has no place";
    UNDECLARED_CHANNEL = "P1122" "undeclared-channel" Warning: "an input that the channels of a processor do not list";
    REPEATED_CHANNEL = "P1123" "repeated-channel" Error: "a channel of a processor is listed twice";
    SHARED_VARIABLE = "P1124" "shared-variable" Warning: "two names of a processor make one variable";
    BAD_SPOT_LIMIT = "P1125" "bad-spot-limit" Error: "the price limit of spot instances does not fit their strategy";
    BAD_REQUIREMENT = "P1126" "bad-requirement" Error: "a requirement of a processor is not a package";
    ODD_OUTPUT_FOLDER = "P1127" "odd-output-folder" Warning: "a command names a folder for outputs that no task has";
    BAD_LOCATION = "P1128" "bad-location" Error: "data of a processor lies or goes where Pinnace cannot reach it";
    BAD_METRIC = "P1129" "bad-metric" Error: "the expression of a metric cannot find a number";
    ODD_CHANNEL_NAME = "P1130" "odd-channel-name" Warning: "a channel of a processor calls itself by another name";
    SHARED_DESTINATION = "P1131" "shared-destination" Warning: "two outputs of a processor go to one place";
    UNKNOWN_MENTION = "P1132" "unknown-mention" Warning: "a command names a parameter or channel that the processor does not have";
    LONG_VARIABLE = "P1133" "long-variable" Warning: "a parameter of a processor is too long for a variable";
    BAD_OVERRIDES = "P1080" "bad-overrides" Error: "the section `tenant_overrides` is not of a form that can be read";
    BAD_SELECTOR = "P1081" "bad-selector" Error: "the path of an override is not a JSONPath";
    BAD_PATTERN = "P1082" "bad-pattern" Error: "an entry of an override is not a regular expression";
    BAD_REPLACEMENT = "P1083" "bad-replacement" Error: "an override names a group that its regular expression does not have";
    UNUSED_SELECTOR = "P1084" "unused-selector" Warning: "the path of an override selects nothing";
    UNUSED_ENTRY = "P1085" "unused-entry" Warning: "an entry of an override fits no value";
    OVERRIDES_OFF = "P1086" "overrides-off" Warning: "the overrides are off, because `allow_override` is not true";
    NO_TENANT = "P1087" "no-tenant" Error: "there are overrides, but it is not known for which tenant the job is";
    BAD_OPERATION = "P1088" "bad-operation" Error: "an override asks for an operation that cannot be done";
    TOO_MUCH_OVERRIDE = "P1089" "too-much-override" Error: "the overrides would take too long";
    KEPT_FEED_FILE = "P1090" "kept-feed-file" Warning: "package feeds in another file are kept";
    NO_MODIFIED_FILES = "P1091" "no-modified-files" Warning: "`keep_modified_files` has nothing to keep";
    BAD_CONFIG_WORD = "P1092" "bad-config-word" Error: "a word that should change the configuration cannot";
    UNKNOWN_CONFIG = "P1093" "unknown-config" Error: "the configuration names a file that is not there";
    BAD_DEFAULTS_LIST = "P1094" "bad-defaults-list" Error: "the `defaults` of a configuration cannot be read";
}
