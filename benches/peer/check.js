'use strict';
// Usage: node check.js FOLDER|FILE [ROUNDS]
// Reads every .yaml file with js-yaml and checks it with ajv, in one process, and prints what one file
// costs in microseconds: in the first round, and in the last one, when the code is compiled and warm.

const fs = require('fs');
const path = require('path');
const yaml = require('js-yaml');
const Ajv = require('ajv');

const target = process.argv[2];
const rounds = Number(process.argv[3] || 1);
const files = fs.statSync(target).isDirectory()
  ? fs.readdirSync(target).filter((file) => file.endsWith('.yaml')).map((file) => path.join(target, file))
  : [target];
const validate = new Ajv({ allErrors: true }).compile(require('./schema'));

let refused = 0;
const times = [];
for (let round = 0; round < rounds; round += 1) {
  const start = process.hrtime.bigint();
  for (const file of files) {
    if (!validate(yaml.load(fs.readFileSync(file, 'utf8')))) {
      refused += 1;
      console.error(`${file}: ${JSON.stringify(validate.errors)}`);
    }
  }
  times.push(Number(process.hrtime.bigint() - start) / 1000 / files.length);
}
console.log(`${times[0].toFixed(1)} ${times[times.length - 1].toFixed(1)}`);
process.exitCode = refused ? 1 : 0;
