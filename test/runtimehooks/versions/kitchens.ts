import { ConversionError, isJsonObject, type JsonObject } from '../../../src/kubernetes/index.ts';
import type { Schema } from '../../../src/kubernetes/schema/index.ts';
import type { VersionChange, VersionMap } from '../../../src/runtimehooks/versions/engine.ts';

const string: Schema = { type: 'string', maxLength: 20 };
const integer: Schema = { type: 'integer' };
const object = (properties: Record<string, Schema>): Schema => ({ type: 'object', properties });
const list = (items: Schema): Schema => ({ type: 'array', items });
const version = (name: string, spec: Schema) => ({
  apiVersion: `kitchens.example.com/${name}`,
  schema: object({ spec }),
});

/** Three versions of a made-up message: v1 and v2 differ in names and places, v2 and v3 in a type. */
export const kitchenSchemas = [
  version(
    'v1',
    object({
      cook: string,
      URL: string,
      size: { type: 'string', enum: ['0', '7', '12', '9999'] },
      mood: { type: 'string', enum: ['Good', 'Bad', 'Odd'] },
      colour: string,
      pots: list(object({ label: string, litres: integer, lid: string })),
      rooms: { type: 'object', additionalProperties: object({ doors: integer, smell: string }) },
      notes: list(string),
    }),
  ),
  version(
    'v2',
    object({
      chef: string,
      url: string,
      size: { type: 'string', enum: ['0', '7', '12', '9999'] },
      mood: { type: 'string', enum: ['Good', 'Bad'] },
      paint: object({ colour: string }),
      pots: list(object({ name: string, litres: integer, weight: integer })),
      rooms: { type: 'object', additionalProperties: object({ doors: integer, windows: integer }) },
      notes: list(string),
    }),
  ),
  version(
    'v3',
    object({
      chef: string,
      url: string,
      size: { type: 'integer', minimum: 0, maximum: 9999 },
      mood: { type: 'string', enum: ['Good', 'Bad'] },
      paint: object({ colour: string }),
      pots: list(object({ name: string, litres: integer, weight: integer })),
      rooms: { type: 'object', additionalProperties: object({ doors: integer, windows: integer }) },
      notes: list(string),
    }),
  ),
] as const;

const [v1, v2, v3] = kitchenSchemas;

function withSize(converted: JsonObject, original: JsonObject, make: (size: unknown) => number | string): JsonObject {
  if (!isJsonObject(original.spec) || !Object.hasOwn(original.spec, 'size')) {
    return converted;
  }
  return { ...converted, spec: { ...(converted.spec as JsonObject), size: make(original.spec.size) } };
}

/** The table between v1 and v2: no custom code. */
export const firstChange = {
  older: v1.apiVersion,
  newer: v2.apiVersion,
  moves: {
    'spec.cook': 'spec.chef',
    'spec.colour': 'spec.paint.colour',
    'spec.pots[].label': 'spec.pots[].name',
  },
  removed: ['spec.pots[].lid', 'spec.rooms{}.smell'],
  added: ['spec.pots[].weight', 'spec.rooms{}.windows'],
  tighter: { 'spec.mood': 'drop' },
} satisfies VersionChange;

/** The table between v2 and v3: a type changes, which takes a custom step in each direction. */
export const secondChange: VersionChange = {
  older: v2.apiVersion,
  newer: v3.apiVersion,
  byHand: { older: ['spec.size'], newer: ['spec.size'] },
  toNewer: (converted, original) =>
    withSize(converted, original, (size) => {
      if (typeof size !== 'string' || !/^(0|[1-9]\d{0,3})$/.test(size)) {
        throw new ConversionError(['spec', 'size'], 'must be a number without leading zeros');
      }
      return Number(size);
    }),
  toOlder: (converted, original) => withSize(converted, original, String),
};

/** The whole chain: v1 and v3 convert by way of v2. */
export const kitchens: VersionMap = {
  kind: 'Kitchen',
  versions: kitchenSchemas,
  changes: [firstChange, secondChange],
};
