import { vi } from 'vitest';
import { Connections } from '../../../src/server/connections/connections.ts';
import { defaultLimits, type Limits } from '../../../src/server/index.ts';

/** Events of connections, which are recorded. */
export const recordedEvents = () => ({
  evicted: vi.fn(),
  dropped: vi.fn(),
  responseDropped: vi.fn(),
  refused: vi.fn(),
});

/** The connections of a server, without a server. */
export function connectionsWith(limits: Partial<Limits> = {}) {
  const events = recordedEvents();
  return { events, connections: new Connections({ ...defaultLimits, ...limits }, events) };
}
