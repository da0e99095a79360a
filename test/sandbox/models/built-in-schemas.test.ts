import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

const program = `
import { registerHooks } from 'node:module';

const models = [];
registerHooks({
  load(url, context, next) {
    models.push(.../\\/gen\\/models\\/(\\w+)\\.js$/.exec(url)?.slice(1) ?? []);
    return next(url, context);
  },
});
const { schemaOfModel } = await import(${JSON.stringify(new URL('../../../src/sandbox/models/built-in-schemas.ts', import.meta.url))});
const secret = schemaOfModel('V1Secret');
const before = models.length;
const fields = Object.keys(secret.properties);
console.log(JSON.stringify({ before, fields, models, unknown: typeof schemaOfModel('V1Nothing') }));
`;

test('models of the Kubernetes client are loaded one by one, when a field is accessed', () => {
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toEqual({
    before: 0,
    fields: ['apiVersion', 'data', 'immutable', 'kind', 'metadata', 'stringData', 'type'],
    models: ['V1Secret'],
    unknown: 'undefined',
  });
});
