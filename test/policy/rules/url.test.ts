import { expect, test } from 'vitest';
import type { ExtensionConfig } from '../../../src/extensionconfig/index.ts';
import { clientUrlOf, showableUrl } from '../../../src/policy/rules/fields.ts';

test.each([
  ['https://u:p@h/x', 'https://u:xxxxx@h/x'],
  ['https://u:p@h', 'https://u:xxxxx@h'],
  ['https://:p@h?q', 'https://:xxxxx@h?q'],
  ['https://u:p@x@h#f', 'https://u:xxxxx@h#f'],
  ['a//u:p@h', 'a//u:xxxxx@h'],
  ['//u:p@h', '//u:xxxxx@h'],
  ['https://u@h:80', 'https://u@h:80'],
  ['https://h:80/u@x', 'https://h:80/u@x'],
  ['https://h/u:p@x', 'https://h/u:p@x'],
  ['https://u@h', 'https://u@h'],
  ['u:p@h', 'u:p@h'],
  ['h?x=//u:p@h', 'h?x=//u:p@h'],
  ['h#//u:p@h', 'h#//u:p@h'],
])('%s is shown as %s', (url, shown) => {
  expect(showableUrl(url)).toBe(shown);
});

test.each([
  ['https://h', 'h', undefined],
  ['https://A.Example.:8443/x', 'a.example', '8443'],
  ['https://h:/', 'h', ''],
  ['https://[2001:DB8::1]', '2001:db8::1', undefined],
  ['https://[::1]:443', '::1', '443'],
  ['https://[::1]:', '::1', ''],
  ['https://2001:db8::1:443', '2001:db8::1', '443'],
  ['http://h', 'h', undefined],
  ['https://', '', undefined],
  ['https:opaque', '', undefined],
])('%s has the host %j and the port %j', (url, hostname, port) => {
  const parsed = clientUrlOf({ spec: { clientConfig: { url } } } as ExtensionConfig);
  expect(parsed).toMatchObject({ hostname });
  expect(parsed?.port).toBe(port);
});

test.each(['/h', 'h', 'https://%zz', 'https://h#a', ''])('%j is not parsed', (url) => {
  expect(clientUrlOf({ spec: { clientConfig: { url } } } as ExtensionConfig)).toBeUndefined();
});

test('an object without a url has none, whatever else is absent', () => {
  for (const object of [{}, { spec: {} }, { spec: { clientConfig: {} } }]) {
    expect(clientUrlOf(object as ExtensionConfig)).toBeUndefined();
  }
});
