import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { copyProject, fromRegistry, linkDependencies, projectFolder, run, runWell } from './tree.ts';

/** What .dockerignore lets through. It is a list of what is allowed, and this test reads no other kind. */
function buildContext(): string[] {
  const lines = readFileSync(join(projectFolder, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  expect(lines[0]).toBe('*');
  return lines.slice(1).map((line) => {
    expect(line).toMatch(/^![\w./-]+$/);
    return line.slice(1);
  });
}

/** The Dockerfile's instructions of one stage: continued lines joined, comments left out. */
function instructions(stage: 'build' | 'runtime'): string[] {
  const lines = readFileSync(join(projectFolder, 'Dockerfile'), 'utf8')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const second = lines.findLastIndex((line) => line.startsWith('FROM '));
  return stage === 'build' ? lines.slice(0, second) : lines.slice(second);
}

let folder: string;
let app: string;

/**
 * The first step of the build: a dry run finds that the checkout has what it would unpack. Most of that is for development
 * and removed again in the last step; of it, only what a build needs.
 */
async function takeDependencies(command: string): Promise<void> {
  const dryRun = ['-c', `${command} --dry-run --loglevel=error`];
  // The Node.js for development came by a script, which the image does not run.
  const differences = (await runWell(projectFolder, '/bin/sh', dryRun))
    .split('\n')
    .filter((line) => /^(add|change|remove) /.test(line) && !/^remove node-(linux|darwin|win|bin)/.test(line));
  expect(differences, 'node_modules is not what npm ci makes: run npm ci').toEqual([]);
  await linkDependencies(folder, /^node_modules\/(@?typescript|@types|openapi-explorer)\b/);
}

// The steps of the build, one after the other, in a folder that has only what an engine would send.
beforeAll(async () => {
  folder = copyProject(buildContext());
  for (const line of instructions('build')) {
    const [instruction, ...rest] = line.split(' ');
    if (instruction === 'COPY') {
      for (const source of rest.slice(0, -1)) {
        expect(existsSync(join(folder, source)), `COPY ${source}: .dockerignore keeps it out`).toBe(true);
      }
    } else if (instruction === 'RUN') {
      const command = rest.join(' ');
      if (command.startsWith('npm ci ') && !fromRegistry) {
        await takeDependencies(command);
      } else {
        await runWell(folder, '/bin/sh', ['-c', command]);
      }
    }
  }
  app = mkdtempSync(join(tmpdir(), 'image-'));
  for (const line of instructions('runtime').filter((candidate) => candidate.startsWith('COPY '))) {
    const paths = line.replace('COPY --from=build ', '').split(' ');
    const target = paths.at(-1)!;
    for (const path of paths.slice(0, -1)) {
      await runWell(folder, 'cp', ['-r', '--parents', path.replace('/app/', ''), app]);
      expect(target === './' || path === `/app/${target}`, line).toBe(true);
    }
  }
}, 300_000);

afterAll(() => {
  for (const path of [folder, app]) {
    if (path !== undefined) {
      rmSync(path, { recursive: true });
    }
  }
});

test('has production dependencies only', () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(app, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
    devDependencies: Record<string, string>;
  };
  for (const name of Object.keys(dependencies)) {
    expect(existsSync(join(app, 'node_modules', name, 'package.json')), name).toBe(true);
  }
  // Types of a library that we use are dependencies of it.
  for (const name of Object.keys(devDependencies).filter((candidate) => !candidate.startsWith('@types/'))) {
    expect(existsSync(join(app, 'node_modules', name, 'package.json')), name).toBe(false);
  }
  expect(readdirSync(app).sort()).toEqual([
    'LICENSE',
    'dist',
    'manifests',
    'node_modules',
    'package.json',
    'templates',
  ]);
});

// docker run --rm -v "$PWD:/work:ro" -w /work IMAGE lint .
test('lints what is mounted: the entry point takes other commands than serve', async () => {
  const samples = join(projectFolder, 'manifests/samples');
  const { code, stdout } = await run(samples, process.execPath, [join(app, 'dist/main.js'), 'lint', '.']);
  expect(stdout).toContain('bad-url.yaml:');
  expect(code).toBe(1);
  expect(instructions('runtime')).toContain('CMD ["serve"]');
});

test('serves: the entry point of the image, the health check without a shell, and an end on SIGTERM', async () => {
  const [entry] = instructions('runtime').filter((line) => line.startsWith('ENTRYPOINT '));
  expect(JSON.parse(entry!.slice('ENTRYPOINT '.length))).toEqual(['/nodejs/bin/node', '/app/dist/main.js']);
  const server: ChildProcess = spawn(
    process.execPath,
    [
      'dist/main.js',
      ...['serve', '--self-signed', '--feature-gates=RuntimeSDK=true'],
      ...['--host=127.0.0.1', '--port=0', '--health-host=127.0.0.1', '--health-port=0'],
    ],
    { cwd: app, env: { PATH: '/usr/bin:/bin', NODE_ENV: 'production' }, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const exited = once(server, 'exit');
  try {
    const healthPort = await new Promise<number>((resolve, reject) => {
      exited.then(([code]) => reject(new Error(`serve ended with ${code}`)), reject);
      createInterface({ input: server.stdout! }).on('line', (line) => {
        const entry = JSON.parse(line) as { msg: string; healthPort: number };
        if (entry.msg === 'listening') {
          resolve(entry.healthPort);
        }
      });
    });
    expect((await fetch(`http://127.0.0.1:${healthPort}/readyz`)).status).toBe(200);
    const [healthCheck] = instructions('runtime').filter((line) => line.startsWith('HEALTHCHECK '));
    const [, flag, script] = JSON.parse(healthCheck!.slice(healthCheck!.indexOf('CMD ') + 4)) as string[];
    await runWell(app, process.execPath, [flag!, script!.replace(':8080', `:${healthPort}`)]);
  } finally {
    server.kill('SIGTERM');
  }
  expect(await exited).toEqual([0, null]);
});
