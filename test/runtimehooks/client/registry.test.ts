import { expect, test } from 'vitest';
import { createClient, type HandlerRegistry } from '../../../src/runtimehooks/client/index.ts';
import { hooksGroup } from '../../../src/runtimehooks/index.ts';
import { extensionConfig, storedHandler } from './extension-server.ts';

const url = { url: 'https://localhost' };
const create = 'BeforeClusterCreate';
const warm = (...configs: Parameters<HandlerRegistry['add']>[0][]) => {
  const registry = createClient().registry;
  const errors = configs.map((config) => [config.metadata.name, registry.add(config)?.message] as const);
  return { registry, errors: errors.filter(([, message]) => message !== undefined) };
};
const namesOf = (found: ReturnType<HandlerRegistry['list']>) => found.map(({ name }) => name);

// Upstream then registers nothing at all, and its manager stops after a minute (its issue 11141).
test('an invalid ExtensionConfig does not affect the others', () => {
  const bad = { namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'Near' }] } };
  const { registry, errors } = warm(
    extensionConfig('alpha', url, [storedHandler('a.alpha', create)]),
    extensionConfig('broken', url, [storedHandler('b.broken', create)], { spec: bad }),
    extensionConfig('odd', url, [
      storedHandler('o.odd', create, { requestHook: { apiVersion: 'x/y/z', hook: create } }),
    ]),
    extensionConfig('zeta', url, [storedHandler('z.zeta', create)]),
  );
  expect(Object.fromEntries(errors)).toEqual({
    broken: expect.stringMatching(
      /^failed to add ExtensionConfig "broken" to registry: failed to create namespaceSelector: /,
    ),
    odd: 'failed to add ExtensionConfig "odd" to registry: failed to add extension handler "o.odd" to registry: failed to parse GroupVersion "x/y/z" of handler "o.odd": unexpected GroupVersion string: x/y/z',
  });
  expect(namesOf(registry.list(hooksGroup, create))).toEqual(['a.alpha', 'z.zeta']);
});

test('an ExtensionConfig is replaced as a whole, and can be removed', () => {
  const { registry } = warm(
    extensionConfig('one', url, [storedHandler('b.one', create), storedHandler('a.one', 'UpdateMachine')]),
    extensionConfig('two', url, [storedHandler('c.two', create)]),
  );
  expect(namesOf(registry.list(hooksGroup, create))).toEqual(['b.one', 'c.two']);
  registry.add(extensionConfig('one', url, [storedHandler('z.one', create), storedHandler('d.one', create)]));
  expect(namesOf(registry.list(hooksGroup, create))).toEqual(['c.two', 'd.one', 'z.one']);
  expect(namesOf(registry.list(hooksGroup, 'UpdateMachine'))).toEqual([]);
  expect(registry.get('b.one')).toMatchObject({
    message: 'failed to get extension handler "b.one" from registry: handler with name "b.one" has not been registered',
  });
  registry.remove('one');
  registry.remove('never');
  expect(namesOf(registry.list(hooksGroup, create))).toEqual(['c.two']);
  expect(registry.extensions.map(({ name }) => name)).toEqual(['two']);
});

test('extensions with handlers are listed by name', () => {
  const configs = ['b', 'c', 'a'].map((name) => extensionConfig(name, url, [storedHandler(`x.${name}`, create)]));
  const { registry } = warm(...configs, extensionConfig('none', url, []));
  expect(registry.extensions.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
});

test('the handlers of an ExtensionConfig that becomes invalid are removed', () => {
  const { registry } = warm(extensionConfig('one', url, [storedHandler('a.one', create)]));
  const error = registry.add(
    extensionConfig('one', url, [
      storedHandler('a.one', create),
      storedHandler('b.one', create, { requestHook: { apiVersion: 'a/b/c', hook: create } }),
    ]),
  );
  expect(error?.message).toMatch(
    /^failed to add ExtensionConfig "one" to registry: failed to add extension handler "b\.one" to registry: /,
  );
  expect(namesOf(registry.list(hooksGroup, create))).toEqual([]);
});

test('lookup by hook finds every version', () => {
  const { registry } = warm(
    extensionConfig('one', url, [
      storedHandler('a.one', create),
      storedHandler('b.one', create, { requestHook: { apiVersion: `${hooksGroup}/v1`, hook: create } }),
      storedHandler('c.one', create, { requestHook: { apiVersion: 'hooks.example.com/v1', hook: create } }),
    ]),
  );
  expect(namesOf(registry.list(hooksGroup, create))).toEqual(['a.one', 'b.one']);
});

test('applies defaults: 10 seconds, also for 0, and Fail', () => {
  const { registry } = warm(
    extensionConfig('one', url, [
      storedHandler('a.one', create, { timeoutSeconds: 0 }),
      { name: 'b.one', requestHook: { apiVersion: `${hooksGroup}/v1alpha1`, hook: create } },
    ]),
  );
  for (const name of ['a.one', 'b.one']) {
    expect(registry.get(name)).toMatchObject({ timeoutSeconds: 10, failurePolicy: 'Fail' });
  }
});
