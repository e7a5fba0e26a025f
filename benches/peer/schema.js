'use strict';
// The job protocol, version 2, as a JSON Schema: what a server checks before it accepts a job.

const name = { type: 'string', pattern: '^[a-zA-Z0-9_-]+$', maxLength: 255 };
const text = { type: 'string' };
const version = { type: ['string', 'number'] };
const protocolVersion = { enum: [2, '2'] };
const identifier = '^[a-zA-Z_][a-zA-Z0-9_]*$';
const integer = (minimum) => ({ type: 'integer', minimum });
const list = (items, minItems) => ({ type: 'array', items, minItems: minItems || 0 });
const closed = (properties, required) => ({
  type: 'object', properties, required: required || [], additionalProperties: false,
});
const about = { protocolVersion, name: text, version, contributor: text, description: text };

const image = closed({
  ...about,
  type: { enum: ['dockerimage'] },
  auth: { type: 'object', properties: { username: text, password: text, registryuri: text } },
  uri: text,
}, ['name', 'type', 'uri']);

const other = (types, uri) => ({
  type: 'object',
  properties: { ...about, type: { enum: types }, uri, plugin: text, require: list(text) },
  required: ['name', 'type'],
});

const count = { type: ['integer', 'null'] };

const role = closed({
  protocolVersion,
  instances: integer(1),
  completion: closed({ minFailedInstances: count, minSucceededInstances: count }),
  taskRetryCount: { type: 'integer' },
  prerequisites: list(text),
  dockerImage: text,
  data: text,
  output: text,
  script: text,
  extraContainerOptions: { type: 'object', properties: { shmMB: { type: 'integer' } } },
  resourcePerInstance: closed({
    cpu: { type: 'integer' },
    memoryMB: { type: 'integer' },
    gpu: { type: 'integer' },
    ports: {
      type: 'object',
      minProperties: 1,
      patternProperties: { [identifier]: { type: 'integer' } },
      additionalProperties: false,
    },
  }, ['cpu', 'memoryMB', 'gpu']),
  commands: list(text, 1),
}, ['dockerImage', 'resourcePerInstance', 'commands']);

const deployment = {
  type: 'object',
  properties: {
    name,
    taskRoles: {
      type: 'object',
      minProperties: 1,
      patternProperties: {
        [identifier]: closed({ preCommands: list(text, 1), postCommands: list(text, 1) }),
      },
      additionalProperties: false,
    },
  },
  required: ['name', 'taskRoles'],
};

module.exports = closed({
  protocolVersion,
  name,
  type: { enum: ['job'] },
  version,
  contributor: text,
  description: text,
  prerequisites: list({
    oneOf: [other(['script', 'output'], text), other(['data'], list(text)), image],
  }, 1),
  parameters: { type: 'object' },
  secrets: { type: 'object' },
  jobRetryCount: integer(0),
  taskRoles: {
    type: 'object',
    minProperties: 1,
    patternProperties: { [identifier]: role },
    additionalProperties: false,
  },
  deployments: list(deployment, 1),
  defaults: { type: 'object', properties: { deployment: text } },
  extras: { type: 'object' },
}, ['protocolVersion', 'name', 'type', 'taskRoles']);
