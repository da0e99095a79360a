import { _, Ajv, type KeywordCxt } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import { charactersIn } from '../../src/base/index.ts';
import { ownSchemaOf } from '../../src/extensionconfig/api/crd.ts';
import { formats, patternOf } from '../../src/extensionconfig/api/formats.ts';
import { type Version, versions } from '../../src/extensionconfig/api/names.ts';
import { hasMoreBytes } from '../../src/kubernetes/index.ts';
import type { Generated } from './stages.ts';

/** The file with the compiled schema of a version. */
const validatorFile = (version: Version) =>
  new URL(`../../src/extensionconfig/api/${version}-errors.generated.ts`, import.meta.url);

/** A schema without keywords that validation ignores. */
function bare<T>(value: T): T {
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  if (Array.isArray(value)) {
    return value.map(bare) as T;
  }
  const entries = Object.entries(value).filter(
    ([key, part]) => !(key === 'description' && typeof part === 'string') && !key.startsWith('x-kubernetes-'),
  );
  return Object.fromEntries(entries.map(([key, part]) => [key, bare(part)])) as T;
}

/** Compiles schemas to the source of functions that find all errors of an object: no messages, no defaults. */
export function schemaCompiler(): Ajv {
  const ajv = new Ajv({
    strict: false,
    logger: false,
    // Objects come from JSON: they inherit no property that a schema names.
    ownProperties: false,
    allErrors: true,
    messages: false,
    formats,
    code: { source: true, esm: true, formats: _`formats`, regExp: Object.assign(patternOf, { code: 'patternOf' }) },
  });
  const error = { message: '', params: ({ schemaCode }: Pick<KeywordCxt, 'schemaCode'>) => _`{limit: ${schemaCode}}` };
  ajv.addKeyword({
    keyword: 'maxTotalBytes',
    type: 'object',
    schemaType: 'number',
    error,
    code(cxt: KeywordCxt) {
      const isOver = cxt.gen.scopeValue('func', { ref: hasMoreBytes, code: _`hasMoreBytes` });
      cxt.fail(_`${isOver}(${cxt.data}, ${cxt.schemaCode})`);
    },
  });
  // Characters are counted only if the number of UTF-16 units does not decide: a bundle has thousands.
  const count = (cxt: KeywordCxt) => cxt.gen.scopeValue('func', { ref: charactersIn, code: _`charactersIn` });
  for (const keyword of ['maxLength', 'minLength']) {
    ajv.removeKeyword(keyword);
  }
  ajv.addKeyword({
    keyword: 'maxLength',
    type: 'string',
    schemaType: 'number',
    error,
    code(cxt: KeywordCxt) {
      const { data, schemaCode: limit } = cxt;
      cxt.fail(_`${data}.length > ${limit} && ${count(cxt)}(${data}) > ${limit}`);
    },
  });
  ajv.addKeyword({
    keyword: 'minLength',
    type: 'string',
    schemaType: 'number',
    error,
    code(cxt: KeywordCxt) {
      const { data, schemaCode: limit } = cxt;
      // A character has at most two units.
      cxt.fail(_`${data}.length < 2 * ${limit} && ${count(cxt)}(${data}) < ${limit}`);
    },
  });
  return ajv;
}

/** The source of a function that finds the errors of an object by the schema of a version. */
function validatorOf(version: Version): string {
  const ajv = schemaCompiler();
  const text = standalone.default(ajv, ajv.compile(bare(ownSchemaOf(version))));
  const compiled = /^"use strict";export const validate = (\w+);export default \w+;/.exec(text);
  const body = text.slice(compiled?.[0].length);
  if (compiled === null || body.includes('require(') || body.includes('export ')) {
    throw new Error(`what ajv compiled for ${version} asks for more than is known here`);
  }
  return `// @ts-nocheck
// Generated from manifests/crd by \`npm run generate\`: the schema as ajv compiles it, which takes longer than the rest of a start. Do not edit.
import { charactersIn } from '../../base/index.ts';
import type { SchemaError } from './examine.ts';
import { formats, patternOf } from './formats.ts';
import { hasMoreBytes } from '../../kubernetes/index.ts';

export function schemaErrors(object: unknown): readonly SchemaError[] | undefined {
  return ${compiled[1]}(object) ? undefined : ${compiled[1]}.errors;
}
${body}
`;
}

/** The compiled schemas, which the program itself imports. */
export const validators = (): Generated[] =>
  versions.map((version) => ({ file: validatorFile(version), text: validatorOf(version) }));
