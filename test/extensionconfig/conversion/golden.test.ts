import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { convert } from '../../../src/extensionconfig/index.ts';

const golden = (version: string) => parse(readFileSync(new URL(`./golden/${version}.yaml`, import.meta.url), 'utf8'));

test.each([
  ['v1alpha1', 'v1beta2'],
  ['v1beta2', 'v1alpha1'],
])('%s → %s, and the conversion data on the way', (from, to) => {
  expect(convert(golden(from), golden(to).apiVersion)).toEqual(golden(to));
});
