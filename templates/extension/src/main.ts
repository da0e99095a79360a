import { createExtensionServer } from 'extensionconfig-webhook/extension';
import { handlers } from './handlers/index.ts';

const { CERT_DIR, HOST, PORT, HEALTH_PORT } = process.env;

try {
  await createExtensionServer({
    handlers,
    // Without a folder: a certificate for localhost, for development.
    certificates: CERT_DIR === undefined ? 'self-signed' : { folder: CERT_DIR },
    port: Number(PORT || 9443),
    healthPort: Number(HEALTH_PORT || 8080),
    ...(HOST && { host: HOST, healthHost: HOST }),
  }).run();
} catch (error) {
  process.stderr.write(`{{name}}: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
