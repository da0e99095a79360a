import { hash } from 'node:crypto';
import { canonical, type Json, type JsonObject, objectAt } from '../../kubernetes/index.ts';
import { renameReferences } from './references.ts';

/** The parts of `components`, in the order of the specification. */
export const componentSections = [
  'schemas',
  'responses',
  'parameters',
  'examples',
  'requestBodies',
  'headers',
  'securitySchemes',
  'links',
  'callbacks',
] as const;

/** One named component of a document, or an operation, whose section is `operationId`. Its value has no references of OpenAPI v2. */
export interface Component {
  section: string;
  name: string;
  value: Json;
  /**
   * Equal for two components of the same section and name, in different documents, if and only if they mean the same:
   * their content is equal, and so is everything that they refer to.
   */
  meaning: string;
}

/** `SECTION/NAME`: a name has a meaning only within its section. */
export function componentKey(section: string, name: string): string {
  return `${section}/${name}`;
}

interface Node extends Component {
  text: string;
  targets: string[];
  /**
   * For Tarjan's algorithm: the order in which the node was visited, the first node that it can reach, and the target to
   * visit next.
   */
  index: number;
  low: number;
  next: number;
  isOpen: boolean;
}

/** Methods of a path item, in the order of the specification. */
const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

function nodesOf(document: JsonObject): Map<string, Node> {
  const nodes = new Map<string, Node>();
  function add(section: string, name: string, given: Json): void {
    const targets: string[] = [];
    const value = renameReferences(given, (...target) => {
      targets.push(componentKey(...target));
      return target[1];
    });
    const node = { section, name, value, text: canonical(value), targets };
    nodes.set(componentKey(section, name), { ...node, index: -1, low: -1, next: 0, isOpen: false, meaning: '' });
  }
  for (const section of componentSections) {
    for (const [name, value] of Object.entries(objectAt(document, 'components', section))) {
      add(section, name, value);
    }
  }
  for (const [path, item] of Object.entries(objectAt(document, 'paths'))) {
    for (const method of methods) {
      const { operationId } = objectAt(item, method);
      if (typeof operationId === 'string') {
        // Operations of the same path and method are the same.
        add('operationId', operationId, `${method} ${path}`);
      }
    }
  }
  return nodes;
}

const digest = (parts: readonly string[]) => hash('sha256', JSON.stringify(parts), 'base64');

/**
 * Assigns meanings to the nodes of a reference cycle. Names are part of their content, and everything outside the cycle
 * that they refer to already has its meaning. So the cycle as a whole is defined by the content of its members and
 * these meanings.
 */
function closeCircle(members: readonly Node[], nodes: ReadonlyMap<string, Node>): void {
  const keys = new Set(members.map(({ section, name }) => componentKey(section, name)));
  const parts = members
    .map(({ section, name, text, targets }) => {
      const outside = new Set(targets.filter((target) => !keys.has(target)));
      const meanings = [...outside].sort().map((target) => nodes.get(target)?.meaning ?? '');
      return digest([componentKey(section, name), text, ...meanings]);
    })
    .sort();
  const whole = digest(parts);
  for (const member of members) {
    member.meaning = members.length === 1 ? whole : digest([whole, componentKey(member.section, member.name)]);
  }
}

/**
 * The components of a document, each with its meaning. Strongly connected components are found by Tarjan's algorithm,
 * without recursion, since chains of references may be long. The work is linear except for sorting keys.
 */
export function componentsOf(document: JsonObject): Component[] {
  const nodes = nodesOf(document);
  const open: Node[] = [];
  let reached = 0;
  for (const start of nodes.values()) {
    const path = start.index === -1 ? [start] : [];
    for (let node = path.at(-1); node !== undefined; node = path.at(-1)) {
      if (node.index === -1) {
        Object.assign(node, { index: reached, low: reached, isOpen: true });
        reached++;
        open.push(node);
      }
      const key = node.targets[node.next];
      if (key !== undefined) {
        node.next++;
        const target = nodes.get(key);
        if (target?.index === -1) {
          path.push(target);
        } else if (target?.isOpen) {
          node.low = Math.min(node.low, target.index);
        }
        continue;
      }
      path.pop();
      const parent = path.at(-1);
      if (parent !== undefined) {
        parent.low = Math.min(parent.low, node.low);
      }
      if (node.low === node.index) {
        const members = open.splice(open.lastIndexOf(node));
        for (const member of members) {
          member.isOpen = false;
        }
        closeCircle(members, nodes);
      }
    }
  }
  return [...nodes.values()];
}
