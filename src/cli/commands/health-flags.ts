import { type Flags, integerFlag, textFlag } from '../framework/flags.ts';

export const healthFlags = {
  'health-port': integerFlag('PORT', 0, 65535, 'port of /healthz, /readyz and /metrics (HTTP); 0: any free port', {
    default: 8080,
    env: 'EXTENSIONCONFIG_HEALTH_PORT',
  }),
  'health-host': textFlag('HOST', 'address that the health port listens on', {
    defaultText: 'all interfaces',
    env: 'EXTENSIONCONFIG_HEALTH_HOST',
  }),
} satisfies Flags;
