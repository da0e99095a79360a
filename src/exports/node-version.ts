// Imported first by each entry point: an older Node.js lacks functions deep in the library, and names only those. npm warns
// of it at the installation at most.
/** The oldest Node.js that the package runs on, as in `engines` of package.json. */
export const oldestNode = 24;

if (Number.parseInt(process.versions.node, 10) < oldestNode) {
  throw new Error(
    `extensionconfig-webhook needs Node.js ${oldestNode} or newer, and this is Node.js ${process.version} (${process.execPath}): install a newer one`,
  );
}
