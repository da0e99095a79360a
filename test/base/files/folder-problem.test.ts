import { expect, test } from 'vitest';
import { folderProblem } from '../../../src/base/index.ts';

test.each<[NodeJS.ErrnoException, string]>([
  [Object.assign(new Error('x'), { code: 'EACCES' }), '/certs cannot be read: permission denied'],
  [Object.assign(new Error('x'), { code: 'EBUSY' }), '/certs cannot be read: EBUSY'],
  [new Error('no code'), '/certs cannot be read: no code'],
])('%j: %s', (error, problem) => {
  expect(folderProblem('/certs', 'read', error)).toBe(`${problem}: choose a folder that this user can write to`);
});
