import { expect, test } from 'vitest';
import { homeFolder } from '../../../src/base/index.ts';

const unknown = () => {
  throw new Error('ENOENT: no such user');
};

test.each([
  ['the variable', { HOME: '/home/a' }, () => '/home/b', '/home/a'],
  ['the system, if the variable is empty', { HOME: '' }, () => '/home/b', '/home/b'],
  ['the variable of a user without a name', { HOME: '/home/a' }, unknown, '/home/a'],
  ['nobody', {}, unknown, undefined],
])('the home folder is known from %s', (_name, env, systemHome, home) => {
  expect(homeFolder(env, systemHome)).toBe(home);
});
