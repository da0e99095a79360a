import { expect, test } from 'vitest';
import { parseConversionData } from '../../src/conversion/conversion-data.ts';

const ofVersions = (count: number) =>
  JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, index) => [`v${index}`, []])));

test('data for more versions than an API has is not conversion data', () => {
  expect([...(parseConversionData(ofVersions(16)) ?? [])]).toHaveLength(16);
  expect(parseConversionData(ofVersions(17))).toBeUndefined();
});
