import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { PublishedDocument } from '../../../src/kubernetes/openapi/index.ts';

test.each(['v2', 'v3'] as const)('a document of %s has one hash, and is encoded once', (version) => {
  const document = { openapi: '3.0.0', swagger: '2.0', info: { title: '<ä>', version: '1' } };
  const published = new PublishedDocument(document, new Date(0), version);
  expect(published.as('json').toString()).toBe(JSON.stringify(document));
  expect(published.hash).toBe(createHash('sha512').update(JSON.stringify(document)).digest('hex').toUpperCase());
  expect(Buffer.from(published.as('protobuf')).includes('<ä>')).toBe(true);
  expect(published.as('protobuf')).toBe(published.as('protobuf'));
});
