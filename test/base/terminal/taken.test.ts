import { expect, test } from 'vitest';
import { isTerminalTaken, takeTerminal } from '../../../src/base/index.ts';

test('a terminal is taken until each who took it has given it back', () => {
  expect(isTerminalTaken()).toBe(false);
  const giveBack = [takeTerminal(), takeTerminal()] as const;
  giveBack[0]();
  giveBack[0]();
  expect(isTerminalTaken()).toBe(true);
  giveBack[1]();
  expect(isTerminalTaken()).toBe(false);
});
