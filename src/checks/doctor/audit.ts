import { count, shortList } from '../../base/index.ts';
import { apiVersionOf, hubVersion } from '../../extensionconfig/index.ts';
import { listPages } from '../../kubernetes/client/index.ts';
import { itemsAt, type JsonObject, textAt } from '../../kubernetes/index.ts';
import { createRuleSet, warningText } from '../../policy/index.ts';
import { newestKnownRelease } from '../../runtimehooks/index.ts';
import { installedRelease } from '../installed-release.ts';
import { reportsOf } from '../lint/index.ts';
import { failed, type Installation, ok, type Tick } from './tick.ts';

async function rulesFor({ cluster }: Installation) {
  return createRuleSet({ clusterApi: (await installedRelease(cluster)) ?? newestKnownRelease });
}

function problemsOf(object: JsonObject, rules: ReturnType<typeof createRuleSet>, now: Date): Tick[] {
  const name = textAt(object, 'metadata', 'name');
  const whole = { ...object, apiVersion: apiVersionOf(hubVersion), kind: 'ExtensionConfig' };
  const ticks = reportsOf(whole, { rules, now })
    .filter(({ severity }) => severity === 'deny')
    .map((report) =>
      failed('audit', `${name}: ${warningText(report)}`, 'fix it: the next write of this object is denied'),
    );
  const discovered = itemsAt(object, 'status', 'conditions').find((one) => textAt(one, 'type') === 'Discovered');
  if (textAt(discovered, 'status') !== 'True') {
    const why = discovered === undefined ? 'no controller has tried' : textAt(discovered, 'message');
    ticks.push(failed('discovery', `${name} is not discovered: ${why}`, `extensionconfig-webhook discover ${name}`));
  }
  return ticks;
}

const path = `/apis/${apiVersionOf(hubVersion)}/extensionconfigs`;

/** One ExtensionConfig: whether the rules would deny it today, and which handlers were discovered. */
export async function auditOne(installation: Installation, name: string): Promise<Tick[]> {
  const object = await installation.cluster.request('GET', `${path}/${name}`);
  const problems = problemsOf(object, await rulesFor(installation), installation.now);
  const handlers = itemsAt(object, 'status', 'handlers').map((handler) => textAt(handler, 'name'));
  const told = handlers.length === 0 ? 'no handlers are registered' : `handlers: ${shortList(handlers, 20)}`;
  return problems.length > 0
    ? [...problems, { check: 'handlers', result: 'note', message: told }]
    : [ok('audit', 'the rules do not deny it'), ok('discovery', `it is discovered; ${told}`)];
}

/** The ExtensionConfigs in the cluster: whether the rules would deny them today, and whether each was discovered. */
export async function audit(installation: Installation): Promise<Tick[]> {
  const { cluster, now } = installation;
  const rules = await rulesFor(installation);
  const ticks: Tick[] = [];
  let total = 0;
  for await (const { items } of listPages(cluster, {
    path,
    resource: 'extensionconfigs',
    query: undefined,
    maxObjects: 10_000,
  })) {
    total += items.length;
    ticks.push(...items.flatMap((object) => problemsOf(object, rules, now)));
  }
  return ticks.length > 0
    ? ticks
    : [ok('audit', `${count(total, 'ExtensionConfig')}: none is denied, all are discovered`)];
}
