// Records what the patches do to the Cluster in test/cluster.yaml: node test/record.ts
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { plan } from './plan.ts';

const cluster = 'test/cluster.yaml';
const { code, output } = await plan('--from', cluster, '-f', cluster);
process.stdout.write(output);
process.exitCode = code;
if (code === 0) {
  rmSync('test/recorded', { recursive: true, force: true });
  await plan('--from', cluster, '--record', 'test/recorded');
  // The address and the certificate of the extension are others each time.
  const file = 'test/recorded/objects.json';
  const { items, ...list } = JSON.parse(readFileSync(file, 'utf8')) as { items: { kind: string }[] };
  const written = items.filter(({ kind }) => kind !== 'ExtensionConfig');
  writeFileSync(file, `${JSON.stringify({ ...list, items: written }, null, 1)}\n`);
} else {
  process.stderr.write('test/recorded stays as it was: correct the handlers first\n');
}
