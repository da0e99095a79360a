import { readFileSync } from 'node:fs';
import { compileErrors, validate } from '@readme/openapi-parser';
import { expect, test } from 'vitest';
import { clusterApiHooks, hooks, type MessageSchema, parseRelease } from '../../../src/runtimehooks/index.ts';
import { openApiDocument, openApiPage } from '../../../src/runtimehooks/messages/index.ts';
import { testRows } from '../../support/rows.ts';

const release = parseRelease('1.14')!;
const recorded = JSON.parse(
  readFileSync(new URL('../../support/fixtures/runtime-sdk/openapi.json', import.meta.url), 'utf8'),
) as {
  paths: object;
  components: { schemas: Record<string, object> };
};

/** Texts for readers, and artifacts of Go's encoding; the rest is structure. */
const notStructure = new Set([
  'description',
  'summary',
  'example',
  'x-kubernetes-patch-strategy',
  'x-kubernetes-patch-merge-key',
  'x-kubernetes-v2-schema',
]);

/** The structure of a part of a document: `allOf` with one reference equals that reference. */
function structure(value: unknown, isMap = false): unknown {
  if (Array.isArray(value)) {
    return value.map((item) => structure(item));
  }
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  const { allOf, ...rest } = value as { allOf?: { $ref: string }[] };
  const entries = Object.entries(allOf?.length === 1 && !isMap ? { ...rest, ...allOf[0] } : value)
    .filter(([key]) => isMap || !notStructure.has(key))
    // Go's zero values of required fields.
    .filter(([key, field]) => isMap || key !== 'default' || !['""', '{}', '0'].includes(JSON.stringify(field)))
    .map(([key, field]) => [
      key,
      key === 'required' && Array.isArray(field)
        ? field.toSorted()
        : structure(field, !isMap && (key === 'properties' || key === 'schemas')),
    ]);
  return Object.fromEntries(entries);
}

const document = openApiDocument(clusterApiHooks, { version: 'v1.14.0', release });

test('paths, parameters and operations are those that Cluster API publishes', () => {
  expect(structure(document.paths)).toEqual(structure(recorded.paths));
});

test('schemas have the names that Cluster API publishes', () => {
  expect(Object.keys(document.components.schemas)).toEqual(Object.keys(recorded.components.schemas).sort());
});

testRows(
  'schemas have the structure that Cluster API publishes',
  Object.entries(document.components.schemas),
  (schema, name) => {
    const theirs = recorded.components.schemas[name];
    const expected = structure(theirs) as { default?: unknown };
    const ours = structure(schema) as { properties?: Record<string, MessageSchema> };
    // The reason of a validation rule has a default that the API server sets, not the client.
    if (name.endsWith('ValidationRule')) {
      delete (expected as { properties: { reason: { default?: string } } }).properties.reason.default;
    }
    expect(ours).toEqual(expected);
  },
);

test('every hook and every field of its messages has a description', () => {
  for (const { post } of Object.values(document.paths)) {
    expect(clusterApiHooks.map(({ name }) => name)).toContain(post.summary);
    expect(post.description).toMatch(/\.$/);
  }
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    expect(schema.description, name).toMatch(/\.$/);
    if (name.includes('.runtime.hooks.')) {
      for (const [field, property] of Object.entries(schema.properties ?? {})) {
        expect(property.description, `${name}.${field}`).toMatch(/\.$/);
      }
    }
  }
});

test('the document is valid OpenAPI, according to an independent validator', async () => {
  const result = await validate(structuredClone(document) as never);
  expect(result.valid ? [] : compileErrors(result)).toEqual([]);
  // The validator does not accept everything.
  const broken = { openapi: document.openapi, info: document.info, paths: { '/a': { get: { parameters: [] } } } };
  const refusal = await validate(broken as never);
  expect(refusal.valid ? '' : compileErrors(refusal)).toContain("REQUIRED must have required property 'responses'");
});

test('a deprecated hook is marked', () => {
  const deprecated = { release: parseRelease('1.13')!, date: '2026-04' };
  const old = { ...hooks.UpdateMachine, deprecated };
  const operation = (release: string) =>
    Object.values(openApiDocument([old], { version: 'v1', release: parseRelease(release)! }).paths)[0]?.post;
  expect(operation('1.12')).not.toHaveProperty('deprecated');
  expect(operation('1.13')).toHaveProperty('deprecated', true);
});

test('the page loads nothing, and shows text that looks like HTML as text', () => {
  const hostile = structuredClone(document);
  hostile.info.title = '</script><script>alert(1)</script><!--';
  const page = openApiPage(hostile);
  expect(page).toContain("content=\"default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'");
  expect(page).toContain('&lt;/script&gt;');
  expect(page.match(/<script[^>]*>/g)).toEqual([
    '<script type="module">',
    '<script id="document" type="application/json">',
    '<script type="module">',
  ]);
  // Without the viewer, which is code that the policy keeps from loading anything.
  const markup = page.replaceAll(/<script[^>]*>[\s\S]*?<\/script>/g, '');
  expect(markup).not.toMatch(/<(script|link|img|iframe|object)\b|\b(src|href)=|url\(|@import/i);
});
