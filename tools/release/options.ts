import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

export const usage = `usage: npm run release -- VERSION [--repository URL] [--image NAME] [--digest DIGEST] [--output DIR] [--write]
       npm run release -- --check

Writes what a release publishes into DIR (release/): tarballs, manifests, bills of materials, checksums, notes.

  --repository URL   where the project is published, for package.json and krew.yaml: https://github.com/OWNER/NAME
  --image NAME       the image without its tag (default: ghcr.io/OWNER/NAME on GitHub, extensionconfig-webhook elsewhere)
  --digest DIGEST    of the image that was pushed, sha256:…: the manifests name it by that instead of its tag
  --check            writes a release into a temporary folder instead, and says what is missing in it or not pinned
  --output DIR       a folder that is not there, is empty, or has an earlier release (default: release)
  --write            also writes the version into the files of the checkout, and dates the section of CHANGELOG.md
`;

/** Arguments that are wrong: exit code 2. */
export class UsageProblem extends Error {}

export interface Options {
  version: string;
  repository: string | undefined;
  image: string;
  digest: string | undefined;
  output: string;
  writes: boolean;
}

/** Whether a folder has nothing but files of an earlier release, which may be deleted. */
function isReleased(folder: string): boolean {
  const sums = join(folder, 'SHA256SUMS');
  const named = existsSync(sums) ? readFileSync(sums, 'utf8') : '';
  return readdirSync(folder).every((file) => file === 'SHA256SUMS' || named.includes(`  ${file}\n`));
}

function imageOf(repository: string | undefined): string {
  const path = /^https:\/\/github\.com\/(.+)$/.exec(repository ?? '')?.[1];
  return path === undefined ? 'extensionconfig-webhook' : `ghcr.io/${path.toLowerCase()}`;
}

/** @throws {UsageProblem} also when the output folder has other files. */
export function readOptions(root: string, args: string[]): Options {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      repository: { type: 'string' },
      image: { type: 'string' },
      digest: { type: 'string' },
      output: { type: 'string' },
      write: { type: 'boolean', default: false },
    },
  });
  const [version, ...more] = positionals;
  if (version === undefined || more.length > 0) {
    throw new UsageProblem('name one version');
  }
  // A tag of an image has no +.
  if (!/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(version)) {
    throw new UsageProblem(`${version} is not a version: write MAJOR.MINOR.PATCH, without v and +`);
  }
  const { repository, image = imageOf(repository), digest, output, write: writes } = values;
  if (repository !== undefined && !/^https:\/\/[\w.-]+(\/[\w.-]+)+$/.test(repository)) {
    throw new UsageProblem(`--repository ${repository} is not an address: write https://HOST/OWNER/NAME`);
  }
  if (!/^[a-z0-9.:/_-]+$/.test(image)) {
    throw new UsageProblem(`--image ${image} is not the name of an image`);
  }
  if (digest !== undefined && !/^sha256:[0-9a-f]{64}$/.test(digest)) {
    throw new UsageProblem(`--digest ${digest} is not a digest: write sha256: and 64 digits`);
  }
  const folder = output === undefined ? join(root, 'release') : resolve(process.env.INIT_CWD ?? '.', output);
  if (existsSync(folder) && !isReleased(folder)) {
    throw new UsageProblem(`${folder} has other files than those of an earlier release: name another folder`);
  }
  return { version, repository, image, digest, output: folder, writes };
}
