import { apiVersionOf, hubVersion } from '../../extensionconfig/index.ts';
import { listPages } from '../../kubernetes/client/index.ts';
import { itemsAt, type JsonObject, textAt } from '../../kubernetes/index.ts';
import { createRuleSet, warningText } from '../../policy/index.ts';
import { advisedTimeoutSeconds, newestKnownRelease } from '../../runtimehooks/index.ts';
import { installedRelease } from '../installed-release.ts';
import { reportsOf } from '../lint/index.ts';
import { failed, type Installation, ok, type Tick } from './tick.ts';

/** The findings for which the rules would deny an object today. */
function denialsOf(object: JsonObject, rules: ReturnType<typeof createRuleSet>, now: Date): string[] {
  const whole = { ...object, apiVersion: apiVersionOf(hubVersion), kind: 'ExtensionConfig' };
  return reportsOf(whole, { rules, now })
    .filter(({ severity }) => severity === 'deny')
    .map((report) => warningText(report));
}

/** The ExtensionConfigs in the cluster: whether the rules would deny them today, and whether each was discovered. */
export async function audit({ cluster, now }: Installation): Promise<Tick[]> {
  const rules = createRuleSet({
    profile: 'strict',
    enforcement: 'deny',
    maxHandlerTimeoutSeconds: advisedTimeoutSeconds,
    clusterApi: (await installedRelease(cluster)) ?? newestKnownRelease,
  });
  const ticks: Tick[] = [];
  let count = 0;
  const path = `/apis/${apiVersionOf(hubVersion)}/extensionconfigs`;
  for await (const { items } of listPages(cluster, {
    path,
    resource: 'extensionconfigs',
    query: undefined,
    maxObjects: 10_000,
  })) {
    for (const object of items) {
      count++;
      const name = textAt(object, 'metadata', 'name');
      for (const denial of denialsOf(object, rules, now)) {
        ticks.push(failed('audit', `${name}: ${denial}`, 'fix it: the next write of this object is denied'));
      }
      const discovered = itemsAt(object, 'status', 'conditions').find((one) => textAt(one, 'type') === 'Discovered');
      if (textAt(discovered, 'status') !== 'True') {
        const why = discovered === undefined ? 'no controller has tried' : textAt(discovered, 'message');
        ticks.push(
          failed('discovery', `${name} is not discovered: ${why}`, `extensionconfig-webhook discover ${name}`),
        );
      }
    }
  }
  return ticks.length > 0
    ? ticks
    : [ok('audit', `of ${count} in the cluster, the rules deny none, and each is discovered`)];
}
