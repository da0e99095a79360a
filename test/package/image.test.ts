import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { review, send, validate } from '../server/running.ts';
import { metricAt } from '../support/metrics.ts';
import { builtImage, instructions } from './image-build.ts';
import { compiledCode, keepingLinks, projectFolder, run, runWell, takeFrom } from './tree.ts';

let app: string;

// The steps of the second stage, run on the result of the first one.
beforeAll(async () => {
  const built = await builtImage();
  // Inside the folder of the run, so that Node.js finds its compile cache by path.
  app = join(inject('runFolder'), 'image');
  mkdirSync(app);
  for (const line of instructions('runtime').filter((candidate) => candidate.startsWith('COPY '))) {
    const paths = line.replace('COPY --from=build ', '').split(' ');
    const target = paths.at(-1)!;
    for (const path of paths.slice(0, -1).map((source) => source.replace('/app/', ''))) {
      // 9,000 files that nothing changes.
      if (path === 'node_modules') {
        symlinkSync(join(built, path), join(app, path));
      } else {
        takeFrom(built, [path], app);
      }
      expect(target === './' || path === target, line).toBe(true);
    }
  }
}, 300_000);

afterAll(() => {
  if (app !== undefined) {
    rmSync(app, { recursive: true });
  }
});

test('contains only production dependencies', () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(app, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
    devDependencies: Record<string, string>;
  };
  for (const name of Object.keys(dependencies)) {
    expect(existsSync(join(app, 'node_modules', name, 'package.json')), name).toBe(true);
  }
  // Type declarations of a library that we use are dependencies of it.
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
test('lints mounted files: the entry point accepts commands other than serve', async () => {
  const samples = join(projectFolder, 'manifests/samples');
  const { code, stdout } = await run(samples, process.execPath, [join(app, 'dist/main.js'), 'lint', '.']);
  expect(stdout).toContain('bad-url.yaml:');
  expect(code).toBe(1);
  expect(instructions('runtime')).toContain('CMD ["serve"]');
});

/** From the log line that reports a listening server. */
interface Listening {
  webhookPort: number;
  healthPort: number;
}

test("serves: the image's entry point, the health check without a shell, and a shutdown on SIGTERM", async () => {
  const [entry] = instructions('runtime').filter((line) => line.startsWith('ENTRYPOINT '));
  expect(JSON.parse(entry!.slice('ENTRYPOINT '.length))).toEqual(['/nodejs/bin/node', '/app/dist/main.js']);
  const server: ChildProcess = spawn(
    process.execPath,
    [
      'dist/main.js',
      ...['serve', '--self-signed', '--feature-gates=RuntimeSDK=true'],
      ...['--host=127.0.0.1', '--port=0', '--health-host=127.0.0.1', '--health-port=0'],
    ],
    {
      cwd: app,
      env: {
        ...{ PATH: '/usr/bin:/bin', NODE_ENV: 'production', ...compiledCode(), ...keepingLinks },
        // The first file of a thread is a package's: the one that the program imports.
        NODE_PRESERVE_SYMLINKS_MAIN: '1',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const exited = once(server, 'exit');
  try {
    const { webhookPort, healthPort } = await new Promise<Listening>((resolve, reject) => {
      exited.then(([code]) => reject(new Error(`serve ended with ${code}`)), reject);
      createInterface({ input: server.stdout! }).on('line', (line) => {
        const entry = JSON.parse(line) as Listening & { msg: string };
        if (entry.msg === 'listening') {
          resolve(entry);
        }
      });
    });
    const health = `http://127.0.0.1:${healthPort}`;
    expect((await fetch(`${health}/readyz`)).status).toBe(200);
    // Decided in the thread for large bodies, a module that is only loaded by its URL.
    const large = review('a').padEnd(200_000);
    expect((await send(webhookPort, validate, large, { rejectUnauthorized: false })).code).toBe(200);
    expect(await metricAt(health, 'extensionconfig_webhook_large_bodies_total{result="answered"}')).toBe(1);
    const [healthCheck] = instructions('runtime').filter((line) => line.startsWith('HEALTHCHECK '));
    const [, flag, script] = JSON.parse(healthCheck!.slice(healthCheck!.indexOf('CMD ') + 4)) as string[];
    await runWell(app, process.execPath, [flag!, script!.replace(':8080', `:${healthPort}`)]);
  } finally {
    server.kill('SIGTERM');
  }
  expect(await exited).toEqual([0, null]);
});
