import { type Flags, integerFlag, switchFlag, textFlag } from '../framework/flags.ts';
import { logFlags } from '../framework/log.ts';

/** The flags of commands that serve HTTPS, and health and metrics at a port of their own. */
export const serverFlags = {
  port: integerFlag('PORT', 0, 65535, 'port of the server (HTTPS); 0: any free port', {
    default: 9443,
    env: 'EXTENSIONCONFIG_PORT',
  }),
  host: textFlag('HOST', 'address to listen on, with both ports', {
    defaultText: 'all interfaces',
    env: 'EXTENSIONCONFIG_HOST',
  }),
  'health-port': integerFlag('PORT', 0, 65535, 'port of /healthz, /readyz and /metrics (HTTP); 0: any free port', {
    default: 8080,
    env: 'EXTENSIONCONFIG_HEALTH_PORT',
  }),
  'cert-dir': textFlag('DIR', 'folder with tls.crt and tls.key; reloaded on change'),
  'self-signed': switchFlag('serve with a certificate for localhost, created at startup; for development'),
  'client-ca-file': textFlag('FILE', 'accept only clients with a certificate from these CAs'),
  ...logFlags,
} satisfies Flags;
