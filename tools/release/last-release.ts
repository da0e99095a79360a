import { execFileSync } from 'node:child_process';

/** An earlier release. */
export interface LastRelease {
  tag: string;
  /** Its files in docs/api, by name. */
  reports: ReadonlyMap<string, string>;
}

/** The last release before a version that the checked out commit contains; undefined if there is none, or no git. */
export function lastRelease(root: string, version: string): LastRelease | undefined {
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', root, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  let tag: string;
  try {
    tag = git('describe', '--tags', '--abbrev=0', '--match=v[0-9]*', `--exclude=v${version}`).trim();
  } catch {
    return undefined;
  }
  const paths = git('ls-tree', '-r', '--name-only', tag, 'docs/api/').trim().split('\n').filter(Boolean);
  const reports = paths.map((path): [string, string] => [
    path.slice('docs/api/'.length),
    git('show', `${tag}:${path}`),
  ]);
  return { tag, reports: new Map(reports) };
}
