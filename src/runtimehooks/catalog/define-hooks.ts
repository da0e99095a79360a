import type { HookDefinition, MessageDefinition, ReleaseChange } from './definition.ts';
import type { HookMessages } from './hook-messages.generated.ts';
import { compareReleases, v1 } from './lifecycle.ts';
import { components, hooksPrefix } from './schema.ts';

/** The API group of Cluster API's own kinds. */
export const coreGroup = 'cluster.x-k8s.io';
/** The group of its hooks. */
export const hooksGroup = 'hooks.runtime.cluster.x-k8s.io';

/** The minor releases of Cluster API that have fields of messages first, of which older ones have the hook. */
const fieldsSince: Readonly<Record<string, number>> = { settings: 4, controlPlaneUpgrades: 12, workersUpgrades: 12 };

/** Of hooks that could block before. */
const fullWaits: ReleaseChange = {
  release: v1(12),
  isBreaking: true,
  text: 'Cluster API waits for the full retryAfterSeconds: the hook is not called earlier, whatever changes',
  remedy: 'answer between a few seconds and a few minutes',
};

/** A hook as it is written here, with releases of Cluster API by their minor. */
interface WrittenHook {
  summary: string;
  purpose: string;
  introduced: number;
  /** First release that reads `retryAfterSeconds`. Default: all, if the response has the field. */
  blockingSince?: number;
  about?: HookDefinition['about'];
  isQuestion?: boolean;
  changes?: readonly ReleaseChange[];
}

function defineHook(name: string, group: HookGroup, written: WrittenHook): HookDefinition {
  const { tags, calls, changes = [] } = group;
  const { summary, purpose, about = group.about, isQuestion = false } = written;
  const introduced = v1(written.introduced);
  const fieldsOf = (component: string) => Object.keys(components.get(component)?.properties ?? {});
  const isBlocking = fieldsOf(`${hooksPrefix}${name}Response`).includes('retryAfterSeconds');
  const { blockingSince = written.introduced } = written;
  const firsts = { ...fieldsSince, retryAfterSeconds: blockingSince };
  function message(suffix: string): MessageDefinition {
    const component = `${hooksPrefix}${name}${suffix}`;
    const later = Object.entries(firsts).filter(
      ([field, since]) => fieldsOf(component).includes(field) && since > written.introduced,
    );
    return {
      kind: `${name}${suffix}`,
      component,
      schema: components.get(component) ?? {},
      fieldsSince: Object.fromEntries(later.map(([field, since]) => [field, v1(since)])),
    };
  }
  return {
    group: hooksGroup,
    version: 'v1alpha1',
    name,
    summary,
    purpose,
    tags,
    calls,
    about,
    isQuestion,
    singleton: calls === 'server',
    introduced,
    ...(isBlocking && { blockingSince: v1(blockingSince) }),
    isBlocking,
    request: message('Request'),
    response: message('Response'),
    changes: [
      ...changes,
      ...(written.changes ?? []),
      ...(isBlocking && blockingSince < fullWaits.release.minor ? [fullWaits] : []),
    ]
      .filter(({ release }) => compareReleases(release, introduced) > 0)
      .sort((a, b) => compareReleases(a.release, b.release)),
  };
}

interface HookGroup extends Pick<HookDefinition, 'tags' | 'calls'> {
  about?: HookDefinition['about'];
  changes?: readonly ReleaseChange[];
}

/** Hooks of Cluster API in their only published version, by name. */
export function defineHooks<Name extends keyof HookMessages>(
  group: HookGroup,
  hooks: Readonly<Record<Name, WrittenHook>>,
): { [N in Name]: HookDefinition<HookMessages[N]['request'], HookMessages[N]['response']> } {
  const defined = Object.entries<WrittenHook>(hooks).map(([name, hook]) => [name, defineHook(name, group, hook)]);
  return Object.fromEntries(defined) as ReturnType<typeof defineHooks<Name>>;
}
