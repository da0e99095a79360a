import { type Flags, integerFlag } from '../framework/flags.ts';

export const healthFlags = {
  'health-port': integerFlag('PORT', 0, 65535, 'port of /healthz, /readyz and /metrics (HTTP); 0: any free port', {
    default: 8080,
    env: 'EXTENSIONCONFIG_HEALTH_PORT',
  }),
} satisfies Flags;
