// WebAssembly's text is assembled when it is bundled.
declare module "*.wat" {
  const program: Uint8Array<ArrayBuffer>;
  export default program;
}
