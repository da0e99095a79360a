import { _, Ajv } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import { clusterApiHooks, type MessageSchema } from '../../src/runtimehooks/index.ts';
import { componentOf, componentsOf, shared } from '../../src/runtimehooks/messages/components.ts';
import { generated, type Strictness } from '../../src/runtimehooks/messages/fits.ts';
import { formats } from '../../src/runtimehooks/messages/formats.ts';

/** How strictly messages are checked: a file each. */
export const strictnesses = Object.keys(generated) as Strictness[];

/** Where the program has the compiled schemas of messages. */
export const messageFitsFile = (strictness: Strictness) =>
  new URL(`../../src/runtimehooks/messages/${strictness}-fits.ts`, import.meta.url);

/** Keywords other than the type, which a Go decoder does not check. */
const beyondType = [
  'required',
  'enum',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'pattern',
] as const;

/** A schema of a message as ajv takes it, with what a strictness asks for. */
function schemaFor(schema: MessageSchema, strictness: Strictness, isOwn: boolean): Record<string, unknown> {
  const { properties, additionalProperties, items, allOf, oneOf, ...result } = schema as Record<string, unknown> &
    MessageSchema;
  if (schema.$ref !== undefined) {
    result.$ref = componentOf(schema.$ref);
  }
  if (strictness !== 'strict') {
    for (const keyword of beyondType) {
      if (!(strictness === 'received' && isOwn && keyword === 'required')) {
        delete result[keyword];
      }
    }
  }
  const inner = (part: MessageSchema) => schemaFor(part, strictness, isOwn);
  if (properties !== undefined) {
    // Hooks never get the status of an object, and each release adds fields to it: `kubectl get -o yaml` has it all the same.
    const isStatus = (name: string, field: MessageSchema) => name === 'status' && field.$ref !== undefined;
    result.properties = Object.fromEntries(
      Object.entries(properties).map(([name, field]) => [
        name,
        isStatus(name, field) ? { type: 'object' } : inner(field),
      ]),
    );
    // Messages of a newer release have fields that this program does not know.
    result.additionalProperties = strictness !== 'strict';
  }
  if (additionalProperties !== undefined) {
    result.additionalProperties = inner(additionalProperties);
  }
  if (items !== undefined) {
    result.items = inner(items);
  }
  if (allOf !== undefined) {
    result.allOf = allOf.map(inner);
  }
  if (oneOf !== undefined) {
    result.oneOf = oneOf.map(inner);
  }
  return result;
}

/** A schema without `oneOf`: ours are of one type each, which a list of types says shorter. */
function withTypes(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(withTypes);
  }
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  const { oneOf, ...rest } = value as { oneOf?: { type: string }[] };
  const parts = Object.fromEntries(Object.entries(rest).map(([key, part]) => [key, withTypes(part)]));
  if (!Array.isArray(oneOf)) {
    return oneOf === undefined ? parts : { ...parts, oneOf: withTypes(oneOf) };
  }
  const types = oneOf.map(({ type }) => type);
  if (String(types) !== 'integer,string' || oneOf.some((one) => Object.keys(one).some((key) => key !== 'type'))) {
    throw new Error(`oneOf ${JSON.stringify(oneOf)} is more than is known here`);
  }
  return { ...parts, type: types };
}

/** Stands before the block of a condition that always holds. */
const always = '§';

/** Code without the braces of blocks that always run: they would be nested as deep as an object has fields. */
function withoutBlocks(code: string): string {
  const branch = /(?:else ?|\))§/.exec(code);
  if (branch !== null) {
    throw new Error(
      `a block is the branch of another condition: ${code.slice(branch.index - 100, branch.index + 100)}`,
    );
  }
  const open: string[] = [];
  return code.replaceAll(/"(?:[^"\\]|\\.)*"|§?\{|\}/g, (token) => {
    if (token.startsWith('"')) {
      return token;
    }
    if (token !== '}') {
      open.push(token);
    }
    return (token === '}' ? open.pop() : token)?.startsWith(always) ? '' : token;
  });
}

/** What ajv's code says about errors, and the same without: the first one ends the check. */
const withoutErrors: readonly (readonly [found: RegExp, replacement: string])[] = [
  [/\(data, \{instancePath="", parentData, parentDataProperty, rootData=data\}=\{\}\)/g, '(data)'],
  [
    /if\(!\(((?:wrapper\d+\.)?validate\d*)\(([\w."[\]-]+), \{instancePath:[^{}]*,rootData\}\)\)\)\{vErrors = vErrors === null \? \1\.errors : vErrors\.concat\(\1\.errors\);errors = vErrors\.length;\}/g,
    'if(!$1($2))return false;',
  ],
  [/validate\d+\.errors = \[\{.*?\}\];return false;(?:break;)?/g, 'return false;'],
  [/let vErrors = null;let errors = 0;/g, ''],
  [/validate\d+\.errors = vErrors;return errors === 0;/g, 'return true;'],
  [/validate\d+\.errors = null;/g, ''],
  [/const _errs\d+ = errors;/g, ''],
  [/else \{var valid\d+ = true;\}/g, ''],
  [/var valid\d+ = (?:_errs\d+ === errors|true);/g, ''],
  [/if\(!valid\d+\)\{break;\}/g, ''],
  [/if\((?:_errs\d+ === errors|errors === _errs\d+|errors === 0|valid\d+)\)(?=\{)/g, always],
  [/let missing\d+;/g, ''],
  [/ && \(missing\d+ = "\w+"\)/g, ''],
  [/\{return false;\}/g, 'return false;'],
];

/** Code with the schemas reduced to what it looks up in them: the names of the fields of large objects. */
function withoutSchemas(code: string): string {
  const used = new Set(Array.from(code.matchAll(/\.call\((schema\d+)\.properties, key\d+\)/g), ([, name]) => name));
  return code
    .replaceAll(/const (schema\d+) = (\{.*?\});(?=const |function |export )/g, (_all, name: string, schema: string) => {
      const { properties } = JSON.parse(schema) as { properties: object };
      return used.has(name)
        ? `const ${name.replace('schema', 'names')} = new Set(${JSON.stringify(Object.keys(properties))});`
        : '';
    })
    .replaceAll(/func\d+\.call\(schema(\d+)\.properties, (key\d+)\)/g, 'names$1.has($2)');
}

/** What must not be left: it would have no meaning any more, or is not there. */
const leftOver = /errors|\bvalid\d|_errs|\bmissing\d|instancePath|\bschema\d|passing\d|§|require\(|\bimport\b/i;

/** The source of functions that say whether a message of Cluster API's hooks has no problem, by component. */
export function messageFitsOf(strictness: Strictness): string {
  const ajv = new Ajv({
    strict: false,
    validateSchema: false,
    logger: false,
    ownProperties: true,
    messages: false,
    // A function for each component: else the small ones are copied.
    inlineRefs: false,
    formats,
    code: { source: true, esm: true, formats: _`formats` },
  });
  for (const [name, schema] of componentsOf(clusterApiHooks)) {
    const known = schemaFor(schema, strictness, !shared.has(name));
    ajv.addSchema(withTypes(known) as object, name, false, false);
  }
  const components = clusterApiHooks.flatMap((hook) => generated[strictness].map((message) => hook[message].component));
  const names = components.map((component, index) => [`fits${index}`, component] as const);
  const code = standalone.default(ajv, Object.fromEntries(names));
  const exported = new Map<string, string>();
  const body = withoutBlocks(
    withoutErrors.reduce((text, [pattern, replacement]) => text.replaceAll(pattern, replacement), withoutSchemas(code)),
  )
    .replace('"use strict";', '')
    .replaceAll(/export const (fits\d+) = (validate\d+);/g, (_all, name: string, check: string) => {
      exported.set(name, check);
      return '';
    })
    .replaceAll(/(?<=[;}])(?=function )/g, '\n');
  const left = leftOver.exec(body);
  if (left !== null || body.includes('export ')) {
    throw new Error(
      `what ajv compiled has more than is known here: ${body.slice((left?.index ?? 0) - 200, (left?.index ?? 0) + 200)}`,
    );
  }
  return `// @ts-nocheck
// Generated from the schemas of the hooks by \`npm run generate\`: as ajv compiles them, which takes longer than the rest of a start, without the problems. Do not edit.
import { formats } from './formats.ts';

${body}

export const fits = {
${names.map(([name, component]) => `  '${component}': ${exported.get(name)},`).join('\n')}
};
`;
}
