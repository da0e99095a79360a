// Imported first by each entry point: an older Node.js lacks functions deep in the library, and names only those. npm warns
// of it at the installation at most.
/** The oldest Node.js that the packages run on, as in `engines` of their package.json. */
export const oldestNode = 22;

if (Number.parseInt(process.versions.node, 10) < oldestNode) {
  throw new Error(
    `Node.js ${oldestNode} or newer is needed, and this is Node.js ${process.version} (${process.execPath}): install a newer one`,
  );
}
