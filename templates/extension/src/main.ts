import { createExtensionServer, startProblem } from 'cluster-api-extension';

const { CERT_DIR, CLIENT_CA_FILE, HOST, PORT, HEALTH_PORT, LOG_LEVEL } = process.env;
const isDevelopment = process.argv.includes('--development');

try {
  if (!CERT_DIR && !isDevelopment) {
    throw new Error('CERT_DIR is not set: give a folder with tls.crt and tls.key, or use "npm run dev"');
  }
  // Here, so that the error of a wrong definition is a message, too.
  const { handlers } = await import('./handlers/index.ts');
  await createExtensionServer({
    handlers,
    certificates: CERT_DIR ? { folder: CERT_DIR } : { development: '.development', name: '{{name}}' },
    port: Number(PORT || 9443),
    healthPort: Number(HEALTH_PORT || 8080),
    logLevel: LOG_LEVEL || 'info',
    ...(CLIENT_CA_FILE && { clients: { caFile: CLIENT_CA_FILE } }),
    ...(HOST && { host: HOST }),
  }).run();
} catch (error) {
  const isPortTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
  const remedy = isPortTaken ? ': choose other ports with the environment variables PORT and HEALTH_PORT' : '';
  process.stderr.write(`{{name}}: ${startProblem(error)}${remedy}\n`);
  process.exitCode = 1;
}
