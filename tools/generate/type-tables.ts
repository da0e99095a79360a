import * as client from '@kubernetes/client-node';

/** The file with the fields of Kubernetes' own types, from which the sandbox makes their schemas. */
export const typeTablesFile = new URL('../../src/sandbox/models/type-tables.generated.json', import.meta.url);

interface Attribute {
  baseName: string;
  type: string;
  format: string;
}

/** The text of `typeTablesFile`: by model, the name, type and format of each field, as @kubernetes/client-node has them. */
export function typeTablesText(): string {
  const lines = Object.entries(client).flatMap(([name, model]) => {
    if (typeof model !== 'function' || !('getAttributeTypeMap' in model)) {
      return [];
    }
    const attributes = (model.getAttributeTypeMap as () => Attribute[])();
    return [`${JSON.stringify(name)}:${JSON.stringify(attributes.map((one) => [one.baseName, one.type, one.format]))}`];
  });
  return `{\n${lines.toSorted().join(',\n')}\n}\n`;
}
