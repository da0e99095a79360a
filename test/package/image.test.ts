import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { beforeAll, expect, inject, test } from 'vitest';
import { review, send, validate } from '../server/running.ts';
import { projectFolder, run, runWell } from './tree.ts';

/** Lines of the Dockerfile: continued ones joined, comments left out. */
const instructions = readFileSync(join(projectFolder, 'Dockerfile'), 'utf8')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'));

/** The files that .dockerignore lets through. It lists what is allowed; other kinds of list are not supported here. */
function buildContext(): string[] {
  const [first, ...rest] = readFileSync(join(projectFolder, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  expect(first).toBe('*');
  return rest.map((line) => {
    expect(line).toMatch(/^![\w./-]+$/);
    return line.slice(1);
  });
}

let built: string;
let app: string;

// What a container engine would do: the build stage's steps on the files that it is sent, with the packages that the
// checkout has in place of `npm ci`.
beforeAll(async () => {
  built = join(inject('runFolder'), 'image-build');
  mkdirSync(built);
  const context = buildContext();
  symlinkSync(join(projectFolder, 'node_modules'), join(built, 'node_modules'));
  for (const line of instructions.slice(
    0,
    instructions.findIndex((line) => line.endsWith(' AS base')),
  )) {
    const [instruction, ...rest] = line.split(' ');
    if (instruction === 'COPY') {
      for (const source of rest.slice(0, -1)) {
        expect(
          context.some((path) => source === path || source.startsWith(`${path}/`)),
          `COPY ${source}: .dockerignore`,
        ).toBe(true);
        cpSync(join(projectFolder, source), join(built, source), { recursive: true });
      }
    } else if (instruction === 'RUN' && rest[0] !== 'npm') {
      await runWell(built, '/bin/sh', ['-c', rest.join(' ')]);
    }
  }
  app = join(built, 'dist/image');
}, 300_000);

test('holds the bundle, and no packages', () => {
  expect(instructions).toContain('RUN npm ci --ignore-scripts --no-audit --no-fund');
  expect(instructions.at(-1)).toBe('COPY --from=build /app/dist/image ./');
  expect(existsSync(join(app, 'node_modules'))).toBe(false);
  const files = globSync('**', { cwd: app }).map((path) => statSync(join(app, path)));
  expect(files.reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0)).toBeLessThan(10e6);
});

test('has no sandbox unless it is built for that', async () => {
  const { code, stderr } = await run(app, process.execPath, [join(app, 'main.js'), 'sandbox', '--port', '1']);
  expect(stderr).toContain('docker build --target tools');
  expect(code).toBe(1);
  const tools = instructions.indexOf('FROM build AS build-tools');
  expect(instructions.slice(tools + 1, tools + 4)).toEqual([
    'RUN node --run build',
    'FROM base AS tools',
    'COPY --from=build-tools /app/dist/extensionconfig-webhook ./',
  ]);
});

// docker run --rm -v "$PWD:/work:ro" -w /work IMAGE lint .
test('lints mounted files: the entry point accepts commands other than serve', async () => {
  const samples = join(projectFolder, 'manifests/samples');
  const { code, stdout } = await run(samples, process.execPath, [join(app, 'main.js'), 'lint', '.']);
  expect(stdout).toContain('bad-url.yaml:');
  expect(code).toBe(1);
  expect(instructions).toContain('CMD ["serve"]');
});

/** From the log line that reports a listening server. */
interface Listening {
  webhookPort: number;
  healthPort: number;
}

test("serves: the image's entry point, the health check without a shell, and a shutdown on SIGTERM", async () => {
  const [entry] = instructions.filter((line) => line.startsWith('ENTRYPOINT '));
  const [program, ...args] = JSON.parse(entry!.slice('ENTRYPOINT '.length)) as string[];
  expect(program).toBe('/nodejs/bin/node');
  const server: ChildProcess = spawn(
    process.execPath,
    [
      ...args.map((arg) => arg.replace('/app/', '')),
      ...['serve', '--self-signed', '--feature-gates=RuntimeSDK=true'],
      ...['--host=127.0.0.1', '--port=0', '--health-port=0'],
    ],
    { cwd: app, env: { PATH: '/usr/bin:/bin', NODE_ENV: 'production' }, stdio: ['ignore', 'pipe', 'inherit'] },
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
    expect((await send(webhookPort, validate, review('a'), { rejectUnauthorized: false })).code).toBe(200);
    const [healthCheck] = instructions.filter((line) => line.startsWith('HEALTHCHECK '));
    const [, flag, script] = JSON.parse(healthCheck!.slice(healthCheck!.indexOf('CMD ') + 4)) as string[];
    await runWell(app, process.execPath, [flag!, script!.replace(':8080', `:${healthPort}`)]);
  } finally {
    server.kill('SIGTERM');
  }
  expect(await exited).toEqual([0, null]);
});
