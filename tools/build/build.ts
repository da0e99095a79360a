// npm run build: dist/ with the npm packages; with --image, dist/image with what the image has instead.
import { globSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildImage, buildPackages } from './build-packages.ts';

const { values } = parseArgs({ options: { image: { type: 'boolean', default: false } } });
await (values.image ? buildImage('dist/image') : buildPackages('dist'));
for (const folder of globSync('dist/*').toSorted()) {
  const files = globSync('**', { cwd: folder }).map((file) => statSync(join(folder, file)));
  const bytes = files.reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0);
  process.stdout.write(`${folder}: ${(bytes / 1e6).toFixed(1)} MB\n`);
}
