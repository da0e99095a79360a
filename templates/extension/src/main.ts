import { createExtensionServer } from 'extensionconfig-webhook/extension';
import { handlers } from './handlers/index.ts';

const { CERT_DIR, HOST, PORT = '9443', HEALTH_PORT = '8080' } = process.env;

try {
  await createExtensionServer({
    handlers,
    // Without a folder: a certificate for localhost, for development.
    certificates: CERT_DIR === undefined ? 'self-signed' : { folder: CERT_DIR },
    port: Number(PORT),
    healthPort: Number(HEALTH_PORT),
    ...(HOST !== undefined && { host: HOST, healthHost: HOST }),
  }).run();
} catch (error) {
  process.stderr.write(`{{name}}: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
