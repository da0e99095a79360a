// npm run release -- VERSION: everything that a release publishes, in release/. Changes no file of the checkout without
// --write.
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { oldestNode } from '../../src/exports/node-version.ts';
import { buildImage, type ReleaseFacts } from '../build/build-packages.ts';
import { packages } from '../build/packages.ts';
import { writeTarballs } from '../build/tarballs.ts';
import { missingEntries } from './breaking-changes.ts';
import { ReleaseProblem, releaseChangelog } from './changelog.ts';
import { incomplete, unpinned } from './check.ts';
import { krewManifest } from './krew.ts';
import { lastRelease } from './last-release.ts';
import { clusterctlMetadata, hasKubectl, renderManifests } from './manifests.ts';
import { type Options, readOptions, UsageProblem, usage } from './options.ts';
import { withVersion } from './version-places.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The address fields of package.json. */
const addressesOf = (repository: string | undefined): ReleaseFacts['addresses'] =>
  repository === undefined
    ? {}
    : {
        homepage: `${repository}#readme`,
        bugs: `${repository}/issues`,
        repository: { type: 'git', url: `git+${repository}.git` },
      };

const sha256 = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');

async function writePackages(folder: string, release: ReleaseFacts): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'release-'));
  try {
    await writeTarballs(folder, scratch, release);
    await buildImage(join(scratch, 'image'), release);
    for (const name of [...packages.map((one) => one.name), 'image']) {
      cpSync(join(scratch, name, 'sbom.cdx.json'), join(folder, `${name}-${release.version}.cdx.json`));
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function writeRelease(options: Options, release: ReleaseFacts, notes: string): Promise<void> {
  const { version, repository, image, digest, output } = options;
  await writePackages(output, release);
  if (hasKubectl()) {
    for (const [file, text] of renderManifests(root, release.edits, { name: image, tag: version, digest })) {
      writeFileSync(join(output, file), text);
    }
  }
  const krew = krewManifest({
    version,
    oldestNode,
    address: repository ?? 'https://example.com/extensionconfig-webhook',
    sha256: sha256(join(output, `extensionconfig-webhook-${version}.tgz`)),
  });
  writeFileSync(join(output, 'krew.yaml'), krew);
  writeFileSync(join(output, 'metadata.yaml'), clusterctlMetadata(version));
  writeFileSync(join(output, 'release-notes.md'), `${notes}\n`);
  const sums = readdirSync(output)
    .toSorted()
    .map((file) => `${sha256(join(output, file))}  ${file}\n`);
  writeFileSync(join(output, 'SHA256SUMS'), sums.join(''));
}

/** Files whose text speaks of the time before the first release. */
const stillBefore = (release: ReleaseFacts) =>
  ['README.md', 'tools/build/sdk-readme.md', ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`)].filter(
    (path) =>
      path.endsWith('.md') &&
      /(until|after) the \[?first\s+release/i.test(release.edits.get(path) ?? readFileSync(join(root, path), 'utf8')),
  );

async function main(args: string[]): Promise<void> {
  const options = readOptions(root, args);
  const { version, repository, output, writes } = options;
  const { version: current } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const today = new Date().toISOString().slice(0, 10);
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  const { text, notes } = releaseChangelog(changelog, version, today);
  const last = lastRelease(root, version);
  if (last !== undefined) {
    const missing = missingEntries(last.reports, currentReports(), notes);
    if (missing.length > 0) {
      throw new ReleaseProblem([`since ${last.tag}:`, ...missing].join('\n'));
    }
  }
  const edits = withVersion(root, current, version);
  const release: ReleaseFacts = { version, addresses: addressesOf(repository), edits };
  rmSync(output, { recursive: true, force: true });
  mkdirSync(output, { recursive: true });
  await writeRelease(options, release, notes);
  const changed = text === changelog ? edits : new Map([...edits, ['CHANGELOG.md', text]]);
  if (writes) {
    for (const [path, edited] of changed) {
      writeFileSync(join(root, path), edited);
    }
  }
  const say = (line: string) => process.stdout.write(`${line}\n`);
  say(`${version}, ${last === undefined ? 'the first release' : `after ${last.tag}`}: ${output}`);
  if (changed.size > 0) {
    say(`${writes ? 'changed' : 'unchanged (--write changes them)'}: ${[...changed.keys()].join(', ')}`);
  }
  if (repository === undefined) {
    say('no --repository: package.json has no address, krew.yaml has that of example.com');
  }
  for (const path of stillBefore(release)) {
    say(`${path} still says what to do until the first release`);
  }
  if (!existsSync(join(output, 'install.yaml'))) {
    throw new ReleaseProblem('incomplete: kubectl, which renders install.yaml and the overlays, is not on the PATH');
  }
}

/** Whether everything is pinned, and a release would be whole: without a network, and without changing anything. */
async function check(): Promise<void> {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const output = mkdtempSync(join(tmpdir(), 'release-check-'));
  try {
    const options = readOptions(root, [version, '--digest', `sha256:${'0'.repeat(64)}`, '--output', output]);
    await writeRelease(options, { version, addresses: {}, edits: new Map() }, 'a check');
    const problems = [...unpinned(root), ...incomplete(root, output, version)];
    if (problems.length > 0) {
      throw new ReleaseProblem(problems.join('\n'));
    }
    process.stdout.write(`everything is pinned, and a release has its ${readdirSync(output).length} files\n`);
  } finally {
    rmSync(output, { recursive: true });
  }
}

function currentReports(): Map<string, string> {
  const folder = join(root, 'docs/api');
  return new Map(readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), 'utf8')]));
}

try {
  const args = process.argv.slice(2);
  await (args.length === 1 && args[0] === '--check' ? check() : main(args));
} catch (error) {
  const isUsage = error instanceof UsageProblem || (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS');
  if (!isUsage && !(error instanceof ReleaseProblem)) {
    throw error;
  }
  process.stderr.write(`${(error as Error).message}\n${isUsage ? usage : ''}`);
  process.exitCode = isUsage ? 2 : 1;
}
