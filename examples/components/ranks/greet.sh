# greet.sh GREETING FOLDER: every rank leaves a file of its own.
echo "$1 from rank $RANK of $WORLD_SIZE on node $NODE_RANK" > "$2/$RANK.txt"
cat "$2/$RANK.txt"
