// What the page says in German.
export default {};
