import { expect, test } from 'vitest';
import { parseRequestUri } from '../../../src/kubernetes/index.ts';

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
  'https://[1:2:3:4:5:6:7:8]',
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
])('Go rejects %j', (text) => {
  expect(parseRequestUri(text)).toHaveProperty('problem');
});

const invalid = (host: string) => `has the invalid host "${host}"`;

test.each([
  ['', 'is empty'],
  [':x', 'begins with a colon, before which the scheme is missing'],
  ['x?a', 'has neither a scheme nor a leading "/"'],
  ['1a://h', 'has neither a scheme nor a leading "/"'],
  ['a/b:c', 'has neither a scheme nor a leading "/"'],
  ['/a\u0001', 'has a control character'],
  ['/a%4', 'has the invalid escape "%4"'],
  ['/%zzz', 'has the invalid escape "%zz"'],
  ['https://h/a%zz', 'has the invalid escape "%zz"'],
  ['https://h%zzz', invalid('h%zzz')],
  ['https://a%41b', invalid('a%41b')],
  ['https://a b c/', invalid('a b c')],
  ['https://h:a1', 'has the invalid port ":a1"'],
  ['https://h:1:a', 'has the invalid port ":a"'],
  ['https://[::1]:8a', 'has the invalid port ":8a"'],
  ['https://[::1]8', 'has the invalid port "8"'],
  ['https://u@[::1', invalid('[::1')],
  ['https://x[::1]', invalid('x[::1]')],
  ['https://x[::1]:8a', invalid('x[::1]:8a')],
  ['https://]x[', invalid(']x[')],
  ['https://[]', invalid('[]')],
  ['https://[%41]', invalid('[%41]')],
  ['https://[1.2.3.4]', invalid('[1.2.3.4]')],
  ['https://[fe80::1%eth0]', invalid('[fe80::1%eth0]')],
  ['https://[fe80::1%25]', invalid('[fe80::1%25]')],
  ['https://[fe80::1%25e%zz]', invalid('[fe80::1%25e%zz]')],
  ['https://[fe80::1%25e%C3]', invalid('[fe80::1%25e%C3]')],
  ['https://[fe80::1%25e^]', invalid('[fe80::1%25e^]')],
  ['https://u^@h', 'has a character in its user info that must be escaped'],
  ['https://u%zz@h', 'has the invalid escape "%zz"'],
])('%j %s', (text, problem) => {
  expect(parseRequestUri(text)).toEqual({ problem });
});

const none = { scheme: '', userInfo: undefined, host: undefined, query: undefined };
test.each([
  ['*', { ...none, path: '*' }],
  ['/', { ...none, path: '/' }],
  ['/a-b_c.d~e/0', { ...none, path: '/a-b_c.d~e/0' }],
  ['//h/x', { ...none, path: '//h/x' }],
  ['//u^@[', { ...none, path: '//u^@[' }],
  ['/a%41', { ...none, path: '/a%41' }],
  ['/a?b#c', { ...none, path: '/a', query: 'b#c' }],
  ['/a?', { ...none, path: '/a', query: '' }],
  ['https:o?q=1', { ...none, scheme: 'https', path: 'o', query: 'q=1' }],
  ['https:/o', { ...none, scheme: 'https', path: '/o' }],
  ['HTTPS+x.1-2://h/', { ...none, scheme: 'https+x.1-2', host: 'h', path: '/' }],
  ['https:///x', { ...none, scheme: 'https', host: '', path: '/x' }],
  ['https://]', { ...none, scheme: 'https', host: ']', path: '' }],
  ['https://h%C3%25:1', { ...none, scheme: 'https', host: 'h%C3%25:1', path: '' }],
  ['https://[fe80::1%25e%41%20]:1', { ...none, scheme: 'https', host: '[fe80::1%25e%41%20]:1', path: '' }],
  ['https://a@b@h?x?y', { ...none, scheme: 'https', userInfo: 'a@b', host: 'h', path: '', query: 'x?y' }],
  [
    'https://u%41:p%20@h:1/x/y?z',
    { ...none, scheme: 'https', userInfo: 'u%41:p%20', host: 'h:1', path: '/x/y', query: 'z' },
  ],
])('parses %s', (text, parts) => {
  expect(parseRequestUri(text)).toEqual(parts);
});
