import { expect, test } from 'vitest';
import { parseRequestUri } from '../../src/kubernetes/index.ts';

test.each([
  'https://',
  'https:example.com',
  'https://h:99999',
  'https://h:',
  '/path',
  '*',
  '/a?b#c',
  'https://ü.example',
  'https://[::1]:443/',
  'https://[fe80::1%25eth0]',
  'https://u:p@h',
  'HTTPS://h',
  'https://h/%41',
])('Go accepts %s', (text) => {
  expect(parseRequestUri(text)).not.toHaveProperty('problem');
});

test.each([
  '',
  ' https://h',
  'example.com',
  ':x',
  '/%zz',
  '/%',
  'https://h:a',
  'https://[::1',
  'https://[::1%25]',
  'https://[::1]a',
  'https://h%41',
  'https://h\u0000',
  '/\n',
  '/\u007f',
  'https://a b/',
  'https://u^@h',
  'https://[x]/',
  'https://h#f',
])('Go refuses %j', (text) => {
  expect(parseRequestUri(text)).toHaveProperty('problem');
});
