import { Server } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { trackConnections } from '../../../src/server/connections/track.ts';
import { defaultLimits } from '../../../src/server/index.ts';
import { takeTime } from '../clock.ts';
import { recordedEvents } from './recorded.ts';

test('the timeouts of a server are checked until it closes, without keeping the process', () => {
  const time = takeTime();
  onTestFinished(time.restore);
  const server = new Server();
  trackConnections(server, defaultLimits, recordedEvents());
  expect([time.pending(), time.referenced()]).toEqual([1, 0]);
  server.emit('close');
  expect(time.pending()).toBe(0);
});
