import { type Flags, integerFlag, textFlag } from '../framework/flags.ts';

/** The flags of the health port of a command that runs in a cluster. */
export const healthFlags = {
  'health-port': integerFlag('PORT', 0, 65535, {
    summary: 'port of /healthz, /readyz and /metrics (HTTP); 0: any free port',
    default: 8080,
  }),
  'health-host': textFlag('HOST', {
    summary: 'address that the health port listens on',
    default: undefined,
    defaultText: 'all interfaces',
  }),
} satisfies Flags;
